package main

import (
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"agent/internal/config"
	"agent/internal/webui"
)

func (a *cli) uiCommand() *cobra.Command {
	var o webui.Options
	tokenFile := ""
	cmd := &cobra.Command{
		Use: "ui", Short: "Look at all contexts, in a browser", Args: cobra.NoArgs,
		Long: `ui --serve shows the contexts as web pages: a list, a context that grows while it runs, two
beside each other, and statistics. It only reads. Anybody who can reach the address can
look, so beyond loopback it needs a token and a certificate; on a machine that others use,
give it a token, too.`,
		Example: `  agent ui --serve 127.0.0.1:0
  agent ui --serve 0.0.0.0:8443 --tls-cert cert.pem --tls-key key.pem --token-file token`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Address == "" {
				return usageError{errors.New("--serve says where to listen, such as 127.0.0.1:0")}
			}
			if tokenFile != "" {
				data, err := os.ReadFile(tokenFile)
				if err != nil {
					return usageError{err}
				}
				o.Token = strings.TrimSpace(string(data))
			}
			l, err := a.view(config.Offline())
			if err != nil {
				return err
			}
			server, err := webui.New(l.Source, o)
			if err != nil {
				return usageError{err}
			}
			return server.Serve(cmd.Context(), func(url string) { l.say("ui.serves", url) })
		},
	}
	cmd.Flags().StringVar(&o.Address, "serve", "", "serve web pages at `HOST:PORT`; port 0 is any that is free")
	cmd.Flags().StringVar(&tokenFile, "token-file", "", "`FILE` with the token that a visitor must give")
	cmd.Flags().StringVar(&o.Cert, "tls-cert", "", "`FILE` with the certificate")
	cmd.Flags().StringVar(&o.Key, "tls-key", "", "`FILE` with its key")
	return cmd
}
