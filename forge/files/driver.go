package files

import (
	"agent/forge"
)

// Driver registers directories of Markdown files.
var Driver = forge.Driver{
	Name: "files", Title: "a directory of files", Local: true,
	Host:  host,
	Issue: forge.FileTask, Change: forge.FileTask,
	ProjectForm: "tasks", ValidProject: ValidName,
	New: newConn,
}

func newConn(o forge.Options) (forge.Conn, error) {
	client, err := New(Config{Directory: o.Directory, Name: o.Name, Repository: o.Repository, Push: o.Push,
		BotName: o.BotName, Operator: o.Operator, ReadOnly: o.ReadOnly})
	if err != nil {
		return nil, err // a nil *Client would be no nil Conn
	}
	return client, nil
}
