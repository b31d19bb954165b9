package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/handlers/engine"
	"agent/internal/report"
	"agent/internal/sanitize"
)

func (a *cli) verifyCommand() *cobra.Command {
	head := ""
	cmd := &cobra.Command{
		Use: "verify [CONTEXT...]", Short: "Check logs: every byte, the hash chain, every blob",
		Long: `verify checks every byte of the logs, their hash chains, every blob, owners and modes, and
whether the projection files are what the logs say. With --head it also
holds one log against the hash that the agent's last comment on the task names: then nothing
up to that event was changed since the comment was written.`,
		Example: `  agent verify             all contexts
  agent verify 3f2a
  agent verify 3f2a --head 57:9f86d081…`,
		RunE: func(_ *cobra.Command, refs []string) error {
			if head != "" && len(refs) != 1 {
				return usageError{errors.New("--head is about one context")}
			}
			seq, sum, err := parseHead(head)
			if err != nil {
				return usageError{err}
			}
			store, err := a.openStore(true)
			if err != nil {
				return err
			}
			code, err := a.each(store, refs, func(uuid string) error {
				err := a.verify(store, uuid)
				if head == "" || err != nil && !isStale(err) {
					return err
				}
				return errors.Join(err, a.verifyHead(store, uuid, seq, sum))
			})
			if len(refs) == 0 {
				err = errors.Join(err, store.CheckOwn())
			}
			return errors.Join(err, quietly(code))
		},
	}
	cmd.Flags().StringVar(&head, "head", "", "EVENT:SHA256 as a comment names it")
	return cmd
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

// each does something with the given contexts, or with all; one that fails does not stop the others.
func (a *cli) each(store *contexts.Store, refs []string, do func(uuid string) error) (code int, err error) {
	uuids, err := a.uuids(store, refs)
	if err != nil {
		return 0, err
	}
	for _, uuid := range uuids {
		if err := do(uuid); err != nil {
			fmt.Fprintf(a.out, "%s  %s\n", uuid, sanitize.Line(strings.TrimPrefix(err.Error(), uuid+" "), 500))
			code = worse(code, exitCode(err))
		}
	}
	return code, nil
}

func (a *cli) uuids(store *contexts.Store, refs []string) ([]string, error) {
	var uuids []string
	for _, ref := range refs {
		uuid, err := store.Newest(ref, a.hosts...)
		if err != nil {
			return nil, err
		}
		uuids = append(uuids, uuid)
	}
	if len(refs) > 0 {
		return uuids, nil
	}
	for entry, err := range store.List() {
		if err != nil {
			fmt.Fprintln(a.err, "agent: warning: "+sanitize.Terminal(err.Error()))
			continue
		}
		uuids = append(uuids, entry.UUID)
	}
	return uuids, nil
}

func (a *cli) verify(store *contexts.Store, uuid string) error {
	v, err := engine.Verify(store, uuid)
	if v.Torn != nil {
		fmt.Fprintf(a.out, "%s  torn tail, cut at the next run: %s\n", uuid, v.Torn)
	}
	if err == nil || isStale(err) {
		fmt.Fprintf(a.out, "%s  ok: %d events, %d blobs\n", uuid, v.Events, v.Blobs)
	}
	return err
}

// isStale is true if nothing is wrong with a log but the files made from it.
func isStale(err error) bool {
	var stale *engine.StaleError
	return errors.As(err, &stale)
}

// verifyHead checks one line of a log against its hash.
func (a *cli) verifyHead(store *contexts.Store, uuid string, seq uint64, sum []byte) error {
	err := engine.VerifyHead(store, uuid, seq, sum)
	var wrong *engine.HeadError
	if errors.As(err, &wrong) {
		return codeError{contexts.ExitDamage, wrong}
	}
	if err == nil {
		fmt.Fprintf(a.out, "%s  event %d is the one that was named\n", uuid, seq)
	}
	return err
}

func (a *cli) repairCommand() *cobra.Command {
	accept := false
	cmd := &cobra.Command{
		Use: "repair CONTEXT --accept-loss", Short: "Keep what is valid of a damaged log", Args: cobra.ExactArgs(1),
		Long: `repair keeps the events before the damage, sets the damaged log aside whole, and records
what was given up. It does nothing to a log that is not damaged.`,
		Example: "  agent repair 3f2a --accept-loss",
		RunE: func(_ *cobra.Command, args []string) error {
			store, err := a.openStore(!accept)
			if err != nil {
				return err
			}
			uuid, err := store.Newest(args[0], a.hosts...)
			if contexts.ExitCode(err) == contexts.ExitDamage {
				return beyondRepair{err}
			}
			if err != nil {
				return err
			}
			if !accept {
				return usageError{errors.New("repair gives up the events after the damage: say --accept-loss if that is right")}
			}
			return a.repair(store, uuid)
		},
	}
	cmd.Flags().BoolVar(&accept, "accept-loss", false, "give up what cannot be read")
	return cmd
}

func (a *cli) repair(store *contexts.Store, uuid string) error {
	lost, err := store.Repair(uuid, time.Now())
	if contexts.ExitCode(err) == contexts.ExitDamage {
		return beyondRepair{err}
	}
	if err != nil {
		return err
	}
	switch {
	case lost.Lines == 0 && lost.Reason == "":
		fmt.Fprintf(a.out, "%s  is not damaged\n", uuid)
		return nil
	case lost.Lines == 0:
		fmt.Fprintf(a.out, "%s  repaired: %s; its directory was moved to where its log sends it\n", uuid, lost.Reason)
		return a.sayNext(store, uuid)
	}
	fmt.Fprintf(a.out, "%s  repaired: %d bytes in %d lines were given up; the whole damaged log is kept in .quarantine\n", uuid, lost.Bytes, lost.Lines)
	if err := a.rebuild(store, uuid); err != nil {
		return err
	}
	return a.sayNext(store, uuid)
}

// sayNext says when a repaired context goes on.
func (a *cli) sayNext(store *contexts.Store, uuid string) error {
	s, err := engine.ReadState(store, uuid)
	if err != nil {
		return err
	}
	next := "goes on at the next round of agent run or agent loop"
	switch reason, until := report.WaitsFor(s); {
	case s.Status.Ended():
		next = "has ended (" + string(s.Status) + "): nothing more happens"
	case until == "person":
		next = fmt.Sprintf("is paused (%s): agent resume %s lets it go on", reason, uuid[:8])
	case until != "":
		next = fmt.Sprintf("is %s until %s, and goes on by itself", s.Status, until)
	}
	fmt.Fprintf(a.out, "%s  %s\n", uuid, next)
	return nil
}

func (a *cli) rebuildCommand() *cobra.Command {
	all, index := false, false
	cmd := &cobra.Command{
		Use: "rebuild [--all | --index | CONTEXT...]", Short: "Rebuild the projection files from the logs",
		Example: `  agent rebuild --all
  agent rebuild --index
  agent rebuild 3f2a`,
		RunE: func(_ *cobra.Command, refs []string) error {
			if chosen := len(refs) > 0; all && chosen || !all && !index && !chosen {
				return usageError{errors.New("say which contexts, --all or --index")}
			}
			store, err := a.openStore(false)
			if err != nil {
				return err
			}
			if index {
				if err := a.rebuildIndex(store); err != nil || !all && len(refs) == 0 {
					return err
				}
			}
			code, err := a.each(store, refs, func(uuid string) error { return a.rebuild(store, uuid) })
			return errors.Join(err, quietly(code))
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "all contexts")
	cmd.Flags().BoolVar(&index, "index", false, "the index of the contexts")
	return cmd
}

func (a *cli) rebuildIndex(store *contexts.Store) error {
	show := a.progress("reading logs")
	lost, err := store.RebuildIndex(show.step)
	show.end()
	if err != nil {
		return err
	}
	for _, i := range lost {
		fmt.Fprintf(a.err, "agent: warning: %s (%s) was lost, and the index knows it no more\n", i.UUID, sanitize.Line(i.TaskKey, 500))
	}
	counts, err := store.Counts()
	if err != nil {
		return err
	}
	total := 0
	for _, n := range counts {
		total += n
	}
	fmt.Fprintf(a.out, "index rebuilt: %d contexts\n", total)
	return nil
}

func (a *cli) rebuild(store *contexts.Store, uuid string) error {
	log, err := store.Acquire(uuid, func(event.Event) error { return nil })
	if err != nil {
		return err
	}
	defer log.Close()
	if err := engine.Rebuild(store, log); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s  rebuilt\n", uuid)
	return nil
}
