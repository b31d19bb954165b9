package projections

import (
	"time"

	"agent/forge"
)

type metadataFile struct {
	UUID      string         `json:"uuid"`
	TaskKey   forge.TaskKey  `json:"task_key"`
	CreatedAt string         `json:"created_at"`
	ProcessID int            `json:"process_id"`
	Hostname  string         `json:"hostname"`
	Config    metadataConfig `json:"config"`
	User      string         `json:"user"`
}

type metadataConfig struct {
	Provider      string  `json:"llm_provider"`
	Model         string  `json:"model"`
	ContextLength int     `json:"context_length"`
	Threshold     float64 `json:"compression_threshold"`
}

func metadata(s *State) FileChange {
	m := metadataFile{UUID: s.Created.UUID, TaskKey: s.Key, CreatedAt: stamp(s.Started),
		ProcessID: s.Created.PID, Hostname: s.Created.Host, User: s.Created.User}
	if s.Process != nil {
		m.ProcessID, m.Hostname = s.Process.PID, s.Process.Host
	}
	if c := s.Config; c != nil {
		m.Config = metadataConfig{c.Provider, c.Model, c.ContextLength, c.Storage.Threshold}
	}
	return FileChange{Name: MetadataFile, Data: jsonLine(m), Replace: true}
}

type taskStateFile struct {
	TaskKey      forge.TaskKey  `json:"task_key"`
	UUID         string         `json:"uuid"`
	User         string         `json:"user"`
	Status       Status         `json:"status"`
	PausedAt     *string        `json:"paused_at"`
	ResumedAt    *string        `json:"resumed_at,omitempty"`
	ResumeCount  int            `json:"resume_count"`
	LastError    *string        `json:"last_error"`
	ContextPath  string         `json:"context_path"`
	CommentState commentState   `json:"comment_state"`
	Planning     *planningState `json:"planning_state,omitempty"`
}

type commentState struct {
	IDs       []string `json:"last_fetched_comment_ids"`
	Timestamp *string  `json:"last_fetch_timestamp"`
}

// Directory is the place below the contexts directory where a context of this status lies.
func (s Status) Directory() string {
	switch s {
	case Paused, Awaiting:
		return "paused"
	case Completed, Stopped, Failed:
		return "completed"
	default:
		return "running"
	}
}

func taskState(s *State) FileChange {
	t := taskStateFile{TaskKey: s.Key, UUID: s.Created.UUID, User: s.Created.User, Status: s.Status,
		PausedAt: stampOrNil(s.PausedAt), ResumedAt: stampOrNil(s.ResumedAt), ResumeCount: s.Resumes,
		ContextPath:  "contexts/" + s.Status.Directory() + "/" + s.Created.UUID,
		CommentState: commentState{IDs: s.Comments.IDs(), Timestamp: commentTime(s.Comments.LastFetch)}, Planning: planningOf(s)}
	if s.LastError != "" {
		t.LastError = &s.LastError
	}
	return FileChange{Name: TaskStateFile, Data: jsonLine(t), Replace: true}
}

func commentTime(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := t.UTC().Format("2006-01-02T15:04:05Z")
	return &text
}
