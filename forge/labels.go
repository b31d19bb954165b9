package forge

import (
	"slices"
	"strings"
)

// What labels look like where the agent creates them. The names are the operator's.
var (
	TriggerLabel    = Label{Color: "5319e7", Description: "The agent should work on this"}
	ProcessingLabel = Label{Color: "1d76db", Description: "The agent is working on this"}
	DoneLabel       = Label{Color: "0e8a16", Description: "The agent has finished"}
	PausedLabel     = Label{Color: "fbca04", Description: "The agent is paused and can resume"}
	StoppedLabel    = Label{Color: "cccccc", Description: "The agent was told to stop"}
	FailedLabel     = Label{Color: "d73a4a", Description: "The agent could not finish"}
	AwaitingLabel   = Label{Color: "d4c5f9", Description: "The agent is waiting for a reply"}
)

// caseless are the kinds whose forge does not tell labels apart by case. GitLab does.
var caseless = map[Kind]bool{GitHubIssue: true, GitHubPullRequest: true}

// Carries reports whether an item of this kind with these labels has a label, as
// its forge compares names.
func (k Kind) Carries(labels []string, name string) bool {
	return slices.ContainsFunc(labels, func(l string) bool { return l == name || caseless[k] && strings.EqualFold(l, name) })
}

// Named is a label of that look with a name.
func (l Label) Named(name string) Label { l.Name = name; return l }
