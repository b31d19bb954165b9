package engine

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"agent/forge"
	"agent/internal/lazyregexp"
)

// A comment that we write ends in a hidden marker that names the intent it was
// written for. The MAC proves that we wrote the marker: anybody can copy one,
// nobody can make one for another op.

var markerForm = lazyregexp.New(`<!-- agent op=([0-9a-f-]{36}:[0-9]+) mac=([0-9a-f]{32}) -->`)

func op(uuid string, seq uint64) string { return fmt.Sprintf("%s:%d", uuid, seq) }

func mac(key []byte, task forge.TaskKey, op string) string {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(task.String() + "\n" + op))
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// marked gives the body that is sent.
func marked(body string, key []byte, task forge.TaskKey, op string) string {
	return fmt.Sprintf("%s\n\n<!-- agent op=%s mac=%s -->", body, op, mac(key, task, op))
}

// Marked reports whether a comment carries the marker of any agent.
func Marked(body string) bool { return markerForm.MatchString(body) }

// markerOf finds the op of the last marker in a body, and whether its MAC is right.
func markerOf(body string, key []byte, task forge.TaskKey) (op string, valid bool) {
	all := markerForm.FindAllStringSubmatch(body, -1)
	if len(all) == 0 {
		return "", false
	}
	last := all[len(all)-1]
	return last[1], hmac.Equal([]byte(last[2]), []byte(mac(key, task, last[1])))
}

// noLog stands for the log in the op of what is said about a task beside all logs.
const noLog = "00000000-0000-0000-0000-000000000000"

// PostOnce writes a comment that belongs to no log, unless one stands there already. about is the id of the
// comment that it answers, 0 if it answers none.
func PostOnce(ctx context.Context, client forge.Client, key []byte, task forge.TaskKey, about uint64, body string) error {
	comments, err := client.Comments(ctx, task, time.Time{})
	if err != nil {
		return err
	}
	if Answered(comments, key, task, about) {
		return nil
	}
	_, err = client.PostComment(ctx, task, marked(body, key, task, op(noLog, about)))
	return err
}

// Answered reports whether [PostOnce] wrote a comment, by comments that were read.
func Answered(comments []forge.Comment, key []byte, task forge.TaskKey, about uint64) bool {
	return slices.ContainsFunc(comments, func(c forge.Comment) bool {
		found, valid := markerOf(c.Body, key, task)
		return valid && found == op(noLog, about)
	})
}
