package event

// WorkspaceSaved says that the files of the working copy are stored beside the log, as a
// tree of git. Its cause is the intent that may have changed them, if one did: it is
// appended after the effect and before its outcome.
type WorkspaceSaved struct {
	input
	Reason  string      `json:"reason"`         // start | tool | setup | changed
	Tree    string      `json:"tree"`           // what is stored
	From    string      `json:"from"`           // the tree before: of the event before, or of the commit
	Base    string      `json:"base,omitempty"` // the commit that the work began on
	Head    string      `json:"head,omitempty"` // the commit that is checked out
	Files   []SavedFile `json:"files"`          // the first ones that changed, by path
	Count   int         `json:"count"`          // of all that changed
	Added   int         `json:"added"`          // lines, of all that changed
	Removed int         `json:"removed"`

	NotSaved   []NotSaved  `json:"not_saved,omitempty"`   // files that are not stored as they are, and that no event named before
	ByProducts []ByProduct `json:"by_products,omitempty"` // new files that tools leave beside the work: they are left out
	Error      string      `json:"error,omitempty"`       // why nothing could be stored; the tree is then the one before
	TookMS     int64       `json:"took_ms"`
}

// SavedFile is one path that changed.
type SavedFile struct {
	Path    string `json:"path"`   // a long one is cut and ends in …
	Change  string `json:"change"` // added | changed | deleted | mode | type
	Added   int    `json:"added,omitempty"`
	Removed int    `json:"removed,omitempty"`
	Binary  bool   `json:"binary,omitempty"`
}

// NotSaved is a file that is not stored as it is. If an earlier content of it is known, the
// tree holds that.
type NotSaved struct {
	Path   string `json:"path"`
	Reason string `json:"reason"` // secret | too_large | unreadable | repository | special | name
}

// WorkspaceRestored says that the working copy was not what the log says, and was made so.
type WorkspaceRestored struct {
	input
	Reason  string      `json:"reason"`            // missing | damaged | commit | differs
	Detail  string      `json:"detail,omitempty"`  // of damage: what was wrong
	Tree    string      `json:"tree"`              // what the files are now
	Base    string      `json:"base,omitempty"`    // the commit that was cloned anew; empty: the clone was there
	Files   []SavedFile `json:"files"`             // the first ones that differed; what they were before, seen from the tree
	Count   int         `json:"count"`             // of all that differed
	Kept    string      `json:"kept,omitempty"`    // directory with the contents that were there
	Lost    int         `json:"lost,omitempty"`    // contents that were too many or too large to be kept
	Missing []string    `json:"missing,omitempty"` // paths whose content is known nowhere
	Error   string      `json:"error,omitempty"`   // why it could not be made; a person has to help
	TookMS  int64       `json:"took_ms"`
}

// WorkspaceChanged says that the files are not what the log says, and cannot be made so:
// they are a person's, or what is stored is damaged. A person decides what counts.
type WorkspaceChanged struct {
	input
	Reason string      `json:"reason,omitempty"` // unreadable: what is stored cannot be read, and the files are not what it names; empty: somebody changed them
	Files  []SavedFile `json:"files"`            // the first ones
	Count  int         `json:"count"`
	Kept   string      `json:"kept,omitempty"` // directory with what a clone held that could not be used
}
