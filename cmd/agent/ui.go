package main

import (
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"agent/internal/cli"
	"agent/internal/config"
	"agent/internal/webui"
)

func (a *commands) uiCommand() *cobra.Command {
	var o webui.Options
	tokenFile := ""
	cmd := &cobra.Command{
		Use: "ui [CONTEXT]", Short: "Browse contexts, in the terminal or as web pages", Args: cobra.MaximumNArgs(1),
		Long: `ui shows the contexts in the terminal, each as a timeline with what lies behind every row:
messages, calls and their outputs, changes of files, comments, plans. It follows a context that
runs. ? shows the keys. With a question it pauses, resumes, stops and forks, as the commands
of these names do. Without a terminal it prints what agent list or, of a CONTEXT, agent
inspect prints.

ui --serve shows the contexts as web pages: a list, a context that grows while it runs, two
beside each other, and statistics. It only reads. Anybody who can reach the address can
look, so beyond loopback it needs a token and a certificate; on a machine that others use,
give it a token, too.`,
		Example: `  agent ui
  agent ui 3f2a
  agent ui --serve 127.0.0.1:0
  agent ui --serve 0.0.0.0:8443 --tls-cert cert.pem --tls-key key.pem --token-file token`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case o.Address == "" && (cmd.Flags().Changed("serve") || tokenFile+o.Cert+o.Key != ""):
				return cli.Usage(errors.New("--serve says where to listen, such as 127.0.0.1:0"))
			case o.Address == "":
				return a.inTerminal(cmd.Context(), args)
			case len(args) > 0:
				return cli.Usage(errors.New("--serve shows all contexts: it takes none"))
			}
			if tokenFile != "" {
				data, err := os.ReadFile(tokenFile)
				if err != nil {
					return cli.Usage(err)
				}
				o.Token = strings.TrimSpace(string(data))
			}
			l, err := a.view(config.Offline())
			if err != nil {
				return err
			}
			o.Version = cli.Version()
			server, err := webui.New(l.Source, o)
			if err != nil {
				return cli.Usage(err)
			}
			return server.Serve(cmd.Context(), func(url string) { l.Say("ui.serves", url) })
		},
	}
	cmd.Flags().StringVar(&o.Address, "serve", "", "serve web pages at `HOST:PORT`; port 0 is any that is free")
	cmd.Flags().StringVar(&tokenFile, "token-file", "", "`FILE` with the token that a visitor must give")
	cmd.Flags().StringVar(&o.Cert, "tls-cert", "", "`FILE` with the certificate")
	cmd.Flags().StringVar(&o.Key, "tls-key", "", "`FILE` with its key")
	return cmd
}
