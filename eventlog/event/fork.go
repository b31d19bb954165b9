package event

// ContextForked says that the log goes on as that of another context. The events before
// it are those of its origin, byte for byte; the origin's own log goes on without it.
type ContextForked struct {
	input
	UUID    string `json:"uuid"`              // whose log it is from here on
	Origin  string `json:"origin"`            // uuid of the context that the events before this one are of
	Seq     uint64 `json:"seq"`               // the latest of them
	Hash    string `json:"hash"`              // hex SHA-256 of its line
	Asked   uint64 `json:"asked,omitempty"`   // the event that was named, if it is another
	Dropped int    `json:"dropped,omitempty"` // turns of the model that were left out
	Live    bool   `json:"live,omitempty"`    // it works on the task itself: what it says and publishes is real
	Dir     string `json:"dir,omitempty"`     // of its own working copy
	By      string `json:"by"`                // account of the machine
	Model   Served `json:"model,omitzero"`    // that is asked from here on
	Prompt  Text   `json:"system_prompt,omitzero"`
	Say     Text   `json:"say,omitzero"` // words of the operator for the model
}

// Simulated says of the outcome of a write how a fork came by it, "" if it was done.
func Simulated(b Body) string {
	switch b := b.(type) {
	case *CommentPosted:
		return b.Simulated
	case *LabelsChanged:
		return b.Simulated
	case *ChangeOpened:
		return b.Simulated
	}
	return ""
}

// Served is a model and who is asked for it.
type Served struct {
	Provider      string `json:"provider"`
	Model         string `json:"model"`
	ContextLength int    `json:"context_length"` // tokens
	Profile       string `json:"profile,omitempty"`
}
