package contexts

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"strings"

	"agent/eventlog"
	"agent/internal/fsx"
)

const (
	waitingDir = ".waiting"
	maxWaiting = 64 << 20 // bytes of one note
)

// Mark says which log a note is about: its file as it was, and its last line.
type Mark struct {
	Size     int64         `json:"size"`
	Modified int64         `json:"modified"` // ns
	Head     eventlog.Head `json:"head"`
	Type     string        `json:"type"` // of the last event
}

// MarkOf reads the mark of a context that is not archived, without reading its log.
func (s *Store) MarkOf(uuid string) (m Mark, err error) {
	m, _, err = s.lastOf(uuid)
	return m, err
}

// lastOf reads the last event of a log, and what marks the log.
func (s *Store) lastOf(uuid string) (m Mark, last eventlog.Record, err error) {
	at, err := s.locate(uuid)
	if err != nil {
		return m, last, err
	}
	f, err := s.fs.OpenFile(path.Join(pathOf(at, uuid), eventlog.FileName), os.O_RDONLY, 0)
	if err != nil {
		return m, last, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return m, last, err
	}
	last, err = eventlog.Last(f, info.Size())
	return Mark{info.Size(), info.ModTime().UnixNano(), eventlog.HeadOf(last), string(last.Type)}, last, err
}

// waitingNote is the first line of a note's file; the note follows.
type waitingNote struct {
	Mark
	Sum string `json:"sha256"` // of the note
}

// NoteWaiting keeps a note about a context that waits, so that later rounds need not read
// its log. It is a cache: [Store.Waiting] gives it while the log is the one of the mark.
func (s *Store) NoteWaiting(uuid string, m Mark, note []byte) error {
	if s.o.ReadOnly {
		return ErrReadOnly
	}
	sum := sha256.Sum256(note)
	line, err := json.Marshal(waitingNote{m, hex.EncodeToString(sum[:])})
	if err != nil {
		return err
	}
	if err := s.prepareDir(waitingDir); err != nil {
		return err
	}
	return s.put(waitingFile(uuid), append(append(line, '\n'), note...), s.fs.Rename)
}

func waitingFile(uuid string) string { return fmt.Sprintf("%s/%s.json", waitingDir, uuid) }

// Waiting gives the note about a context, nil if there is none about the log as it is now.
func (s *Store) Waiting(uuid string) []byte {
	data, err := fsx.ReadFile(s.fs, waitingFile(uuid), maxWaiting)
	if err != nil {
		return nil
	}
	var of waitingNote
	line, note, _ := bytes.Cut(data, []byte("\n"))
	sum := sha256.Sum256(note)
	if json.Unmarshal(line, &of) != nil || of.Sum != hex.EncodeToString(sum[:]) {
		return nil
	}
	if now, err := s.MarkOf(uuid); err != nil || now != of.Mark {
		return nil
	}
	return note
}

// sweepWaiting removes the notes about contexts that do not wait any more.
func (s *Store) sweepWaiting() error {
	entries, err := s.fs.ReadDir(waitingDir)
	if isMissing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if _, err := s.fs.Lstat(pathOf(Paused, strings.TrimSuffix(e.Name(), ".json"))); !isMissing(err) {
			continue
		}
		if err := s.fs.Remove(waitingDir + "/" + e.Name()); err != nil && !isMissing(err) {
			return err
		}
	}
	return nil
}
