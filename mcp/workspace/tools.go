package workspace

import (
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

func hints(readOnly, destructive, idempotent, openWorld bool) mcp.ToolAnnotation {
	return mcp.ToolAnnotation{
		ReadOnlyHint:    &readOnly,
		DestructiveHint: &destructive,
		IdempotentHint:  &idempotent,
		OpenWorldHint:   &openWorld,
	}
}

func (w *workspace) addTools(s *server.MCPServer) {
	reads := hints(true, false, true, false)
	add(s, "read_file",
		"Read a text file of the workspace. A file over 1 MiB needs start_line and end_line (both inclusive, from 1).",
		`{"type":"object","properties":{"path":{"type":"string"},"start_line":{"type":"integer","minimum":1},"end_line":{"type":"integer","minimum":1}},"required":["path"],"additionalProperties":false}`,
		reads, w.readFile)
	add(s, "write_file",
		"Write a whole file, creating it and its directories or replacing it.",
		`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"],"additionalProperties":false}`,
		hints(false, true, true, false), w.writeFile)
	add(s, "edit_file",
		"Replace text in a file: old_text must occur once, or replace_all is true. edits makes several replacements in turn, all or none.",
		`{"type":"object","properties":{"path":{"type":"string"},"old_text":{"type":"string"},"new_text":{"type":"string"},"replace_all":{"type":"boolean"},"edits":{"type":"array","items":{"type":"object","properties":{"old_text":{"type":"string"},"new_text":{"type":"string"},"replace_all":{"type":"boolean"}},"required":["old_text","new_text"],"additionalProperties":false}}},"required":["path"],"additionalProperties":false}`,
		hints(false, true, false, false), w.editFile)
	add(s, "apply_patch",
		"Change files by a patch, all or none: a unified diff, or the form *** Begin Patch with *** Add File, *** Update File, *** Delete File, *** Move to.",
		`{"type":"object","properties":{"patch":{"type":"string"}},"required":["patch"],"additionalProperties":false}`,
		hints(false, true, false, false), w.applyPatch)
	add(s, "delete_file",
		"Delete a file or a link.",
		`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`,
		hints(false, true, false, false), w.deleteFile)
	add(s, "move_file",
		"Move or rename a file. The new path must be free.",
		`{"type":"object","properties":{"path":{"type":"string"},"to":{"type":"string"}},"required":["path","to"],"additionalProperties":false}`,
		hints(false, true, false, false), w.moveFile)
	add(s, "list_files",
		"List files below a directory (default: the whole workspace), sorted. glob filters by path, with ** for any directories; without a slash it applies to file names.",
		`{"type":"object","properties":{"path":{"type":"string"},"glob":{"type":"string"}},"additionalProperties":false}`,
		reads, w.listFiles)
	add(s, "search",
		"Search text files for a regular expression (RE2), line by line. Answers with path:line: text.",
		`{"type":"object","properties":{"pattern":{"type":"string"},"path":{"type":"string"}},"required":["pattern"],"additionalProperties":false}`,
		reads, w.search)
	add(s, "run_command",
		"Run a program in the workspace. argv is a list of arguments, there is no shell and no input. Answers with the exit code and the output. It is killed after timeout_seconds, which is 100 if not given and at most 1800. Background processes are killed when the program ends.",
		`{"type":"object","properties":{"argv":{"type":"array","items":{"type":"string"},"minItems":1},"timeout_seconds":{"type":"integer","minimum":1,"maximum":1800}},"required":["argv"],"additionalProperties":false}`,
		hints(false, true, false, true), w.runCommand)
	add(s, "git_status",
		"Show the branch, what is not committed yet, and the latest commits.",
		`{"type":"object","properties":{},"additionalProperties":false}`,
		reads, w.gitStatus)
	add(s, "git_commit",
		"Commit all changes with a message. Commit when a step that makes sense by itself is done; what is left at the end is committed for you.",
		`{"type":"object","properties":{"message":{"type":"string"}},"required":["message"],"additionalProperties":false}`,
		hints(false, false, false, false), w.gitCommit)
	add(s, "git_diff",
		"Show what has changed since the last commit, and the names of untracked files.",
		`{"type":"object","properties":{},"additionalProperties":false}`,
		reads, w.gitDiff)
}
