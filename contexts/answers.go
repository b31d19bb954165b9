package contexts

import (
	"time"
)

// AnswersDir is the directory of the store in which adapters keep what forges
// answered, to ask later only whether it changed. All of it may be deleted.
const AnswersDir = ".answers"

// answersUnused is how long an answer is kept that nobody asks for.
const answersUnused = 14 * 24 * time.Hour

// forgetAnswers removes all of them: the texts of one task stand in lists, too.
func (s *Store) forgetAnswers() error {
	return s.removeAnswers(func(time.Time) bool { return true })
}

// removeAnswers removes those whose time of use is old. One that is written or
// removed meanwhile is of no account.
func (s *Store) removeAnswers(old func(time.Time) bool) error {
	entries, err := s.fs.ReadDir(AnswersDir)
	if isMissing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !old(info.ModTime()) {
			continue
		}
		if err := s.fs.Remove(AnswersDir + "/" + e.Name()); err != nil && !isMissing(err) {
			return err
		}
	}
	return nil
}
