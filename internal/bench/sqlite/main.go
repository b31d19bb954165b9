// Sqlite answers from a database what lookup answers from the index:
//
//	sqlite FILE [TASKKEY]
package main

import (
	"database/sql"
	"fmt"
	"os"

	_ "github.com/mattn/go-sqlite3" // the driver "sqlite3"
)

func main() {
	if err := look(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sqlite:", err)
		os.Exit(1)
	}
}

func look(args []string) error {
	db, err := sql.Open("sqlite3", "file:"+args[0]+"?mode=ro")
	if err != nil || len(args) < 2 {
		return err
	}
	rows, err := db.Query("select uuid, state, ended from contexts where task_key = ? order by created desc", args[1])
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var uuid, state string
		var ended int64
		if err := rows.Scan(&uuid, &state, &ended); err != nil {
			return err
		}
		fmt.Println(uuid, state, ended)
	}
	return rows.Err()
}
