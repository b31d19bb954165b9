package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"agent/contexts"
	"agent/handlers/engine"
	"agent/internal/cli"
	"agent/internal/integrity"
	"agent/internal/term"
)

func (a *commands) verifyCommand() *cobra.Command {
	head := ""
	cmd := &cobra.Command{
		Use: "verify [CONTEXT...]", Short: "Check logs: every byte, the hash chain, every blob",
		Long: `verify checks every byte of the logs, their hash chains, every blob, the saved files, owners
and modes, and whether the projection files are what the logs say. With --head it also
holds one log against the hash that the agent's last comment on the task names: then nothing
up to that event was changed since the comment was written.`,
		Example: `  agent verify             all contexts
  agent verify 3f2a
  agent verify 3f2a --head 57:9f86d081…`,
		RunE: func(_ *cobra.Command, refs []string) error {
			if head != "" && len(refs) != 1 {
				return cli.Usage(errors.New("--head is about one context"))
			}
			seq, sum, err := parseHead(head)
			if err != nil {
				return cli.Usage(err)
			}
			store, err := a.OpenStore(true)
			if err != nil {
				return err
			}
			defer a.PageLong()()
			code, err := a.Each(store, refs, func(uuid string) error {
				err := a.verify(store, uuid)
				a.noteDamage(uuid, err)
				if head == "" || err != nil && !integrity.IsStale(err) {
					return err
				}
				return errors.Join(err, a.verifyHead(store, uuid, seq, sum))
			})
			if len(refs) == 0 {
				err = errors.Join(err, store.CheckOwn())
			}
			return errors.Join(err, cli.Quietly(code))
		},
	}
	a.JSONFlag(cmd, "print one JSON object a line for each context")
	cmd.Flags().StringVar(&head, "head", "", "EVENT:SHA256 as a comment names it")
	return cmd
}

// noteDamage lets `agent status` know of a damaged context, if the store can be written to.
func (a *commands) noteDamage(uuid string, err error) {
	if cli.ExitCode(err) != contexts.ExitDamage {
		return
	}
	if store, err := a.OpenStore(false); err == nil {
		_, _ = store.NoteDamage(uuid) // it is told now, whether it can be noted or not
	}
}

// parseHead takes EVENT:SHA256 apart; an empty one names nothing.
func parseHead(head string) (seq uint64, sum []byte, err error) {
	if head == "" {
		return 0, nil, nil
	}
	number, digits, _ := strings.Cut(head, ":")
	seq, err = strconv.ParseUint(number, 10, 64)
	sum, hexErr := hex.DecodeString(digits)
	if err != nil || hexErr != nil || len(sum) != sha256.Size {
		return 0, nil, errors.New("--head is the number of an event, a colon, and 64 hex digits")
	}
	return seq, sum, nil
}

func (a *commands) verify(store *contexts.Store, uuid string) error {
	v, err := integrity.Verify(store, uuid)
	if v.Torn != "" && !a.JSON {
		a.Paint(term.Waits, a.Text("verify.torn", uuid, v.Torn))
	}
	if err == nil || v.OK && !a.JSON {
		a.Tell(v, "verify.ok", uuid, v.Events, v.Blobs, v.Saves)
	}
	return err
}

// named is an event that verify --head found as it was named.
type named struct {
	UUID string `json:"uuid"`
	Head uint64 `json:"head"`
}

// verifyHead checks one line of a log against its hash.
func (a *commands) verifyHead(store *contexts.Store, uuid string, seq uint64, sum []byte) error {
	err := engine.VerifyHead(store, uuid, seq, sum)
	var wrong *engine.HeadError
	if errors.As(err, &wrong) {
		return cli.Coded(contexts.ExitDamage, wrong)
	}
	if err == nil {
		a.Tell(named{uuid, seq}, "verify.named", uuid, seq)
	}
	return err
}
