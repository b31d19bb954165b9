// Package forgetest holds in-process HTTP servers that answer like GitHub's
// REST API ([New]) and like GitLab's ([NewGitLab]), for tests and for the
// demonstration. The package suite below it is what every adapter must pass on
// them.
//
// State: accounts, tokens, Apps, repositories, issues, pull requests with
// reviews and review comments, labels and comments, all in memory, guarded by
// one mutex. The state lives as long as the Server, so it survives the agent
// that is killed while it talks to it.
//
// GitHub's API is served at the root and below any prefix that ends in /api/v3.
// Answers are whole objects as the official description requires them; the
// package openapi below holds them against it. Of GraphQL it knows who edited an
// item last, and when.
// Numbers of issues and pull requests share one space per repository; ids of
// comments rise over the whole server; times have whole seconds.
//
// A token acts as its account. Who has a token may write everywhere, unless
// [Server.SetPermission] says otherwise; all others may read public
// repositories. Fault, which both servers have, makes chosen requests fail in
// chosen ways.
//
// A repository with a git directory is cloned from and pushed to over HTTP, see
// git.go: git's own server program answers, behind the forge's accounts.
//
// GitLab's API lies at the root and below /api/v4, see [GitLab]. Its answers are
// held against client-go's types, and against the schemas of a GitLab MCP server
// that is not ours (make test-servers).
//
// The arranging methods panic on names that were never added: that is a
// mistake in the caller's program, not a state of the forge.
package forgetest
