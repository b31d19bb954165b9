// Lookup opens a store and, if a TaskKey is given, asks which contexts it has:
//
//	lookup DIR [TASKKEY]
//
// Without one it is the same process without a lookup.
package main

import (
	"fmt"
	"os"

	"agent/contexts"
	"agent/internal/fsx"
)

func main() {
	if err := look(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "lookup:", err)
		os.Exit(1)
	}
}

func look(args []string) error {
	fsys, err := fsx.OpenOS(args[0])
	if err != nil {
		return err
	}
	store, err := contexts.Open(fsys, contexts.Options{Dir: args[0], ReadOnly: true})
	if err != nil || len(args) < 2 {
		return err
	}
	of, err := store.OfTask(args[1])
	if err != nil {
		return err
	}
	for _, i := range of {
		fmt.Println(i.UUID, i.State, i.Ended)
	}
	return nil
}
