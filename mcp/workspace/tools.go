package workspace

import (
	"fmt"
	"strings"

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

// schema makes the JSON Schema of a tool's arguments of words like "path!",
// "limit:integer", "edits:[old_text!,new_text!]". One with "!" is required.
func schema(arguments string) string {
	var properties, required []string
	for _, word := range strings.Fields(arguments) {
		name, kind, _ := strings.Cut(word, ":")
		if bare, ok := strings.CutSuffix(name, "!"); ok {
			name = bare
			required = append(required, `"`+name+`"`)
		}
		switch {
		case kind == "":
			kind = `{"type":"string"}`
		case kind == "strings":
			kind = `{"type":"array","items":{"type":"string"}}`
		case kind[0] == '[':
			kind = `{"type":"array","items":` + schema(strings.ReplaceAll(strings.Trim(kind, "[]"), ",", " ")) + `}`
		default:
			kind = `{"type":"` + kind + `"}`
		}
		properties = append(properties, `"`+name+`":`+kind)
	}
	text := `{"type":"object","properties":{` + strings.Join(properties, ",") + `}`
	if required != nil {
		text += `,"required":[` + strings.Join(required, ",") + `]`
	}
	return text + `,"additionalProperties":false}`
}

func (w *workspace) addTools(s *server.MCPServer) {
	reads := hints(true, false, true, false)
	add(s, "read_file",
		"Read a text file: \"number<tab>line\". Long ones in parts, start_line to end_line (inclusive); the head says what is shown. column: where to begin in a very long line.",
		schema("path! start_line:integer end_line:integer column:integer"), reads, w.readFile)
	add(s, "write_file",
		"Write a whole file, new or not, with its directories. Encoding, line ends and mode stay.",
		schema("path! content!"), hints(false, true, true, false), w.writeFile)
	add(s, "edit_file",
		"Replace text in a file, without the line numbers of read_file. old_text must occur once, unless replace_all. edits: several replacements in turn, all or none.",
		schema("path! old_text new_text replace_all:boolean edits:[old_text!,new_text!,replace_all:boolean]"), hints(false, true, false, false), w.editFile)
	add(s, "apply_patch",
		"Change files by a patch, all or none: a unified diff, or *** Begin Patch with *** Add File, *** Update File, *** Move to, *** Delete File.",
		schema("patch!"), hints(false, true, false, false), w.applyPatch)
	add(s, "delete_file", "Delete a file.", schema("path!"), hints(false, true, false, false), w.deleteFile)
	add(s, "move_file", "Move or rename a file to a path that is free.", schema("path! to!"), hints(false, true, false, false), w.moveFile)
	add(s, "list_files",
		"List files, without what .gitignore names (ignored: with it). glob: ** for any directories; without a slash for file names.",
		schema("path glob ignored:boolean offset:integer limit:integer"), reads, w.listFiles)
	add(s, "search",
		"Search files by lines for a regular expression (RE2), without what .gitignore names. Answers path:line: text; source first. context: lines around; count: matches per file.",
		schema("pattern! path glob ignore_case:boolean word:boolean literal:boolean context:integer count:boolean ignored:boolean offset:integer limit:integer"), reads, w.search)
	add(s, "run_command",
		fmt.Sprintf("Run a shell line (command), or a program with arguments (argv), without input. Answers with exit code, time, failed tests, output. Killed after timeout_seconds (%d, at most %d). background: it goes on, up to the end of the task; what other commands leave running is killed.", defaultTimeout, maxTimeout),
		schema("command argv:strings cwd timeout_seconds:integer background:boolean"), hints(false, true, false, true), w.runCommand)
	add(s, "command_output",
		"Show the output of a command by the id that run_command gave: its end, or start_line to end_line, or the lines that match pattern. wait_seconds: first wait for its end.",
		schema("id!:integer start_line:integer end_line:integer pattern wait_seconds:integer"), hints(true, false, true, false), w.commandOutput)
	add(s, "stop_command", "Stop a command in the background, with all it started.", schema("id!:integer"), hints(false, true, true, false), w.stopCommand)
	add(s, "git_status", "Show the branch, what is not committed, and the latest commits.", schema(""), reads, w.gitStatus)
	add(s, "git_commit",
		"Commit all changes. Commit when a step that makes sense by itself is done; what is left at the end is committed for you.",
		schema("message!"), hints(false, false, false, false), w.gitCommit)
	add(s, "git_diff", "Show changes since the last commit (or rev), new files too.", schema("path rev"), reads, w.gitDiff)
	add(s, "git_log", "List commits; pattern: in their messages.", schema("path rev pattern limit:integer"), reads, w.gitLog)
	add(s, "git_show", "Show a commit, or a file in it (rev \"HEAD~1:dir/file\").", schema("rev path"), reads, w.gitShow)
	add(s, "git_blame", "Show which commit changed each line last.", schema("path! start_line:integer end_line:integer rev"), reads, w.gitBlame)
	add(s, "git_restore", "Bring a file back as it is in the last commit (or rev).", schema("path! rev"), hints(false, true, true, false), w.gitRestore)
}
