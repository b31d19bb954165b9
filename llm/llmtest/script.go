package llmtest

import "net/http"

// Script decides what to answer. N counts the requests from 0. Calls of a
// script never overlap. A script that decides from r alone gives the same
// answer to a request that is sent again.
type Script func(n int, r Request) Reply

// Sequence plays replies in the order of the requests, and refuses all after
// the last one with status 500, "script exhausted".
func Sequence(replies ...Reply) Script {
	return func(n int, _ Request) Reply { return at(replies, n) }
}

// Turns plays replies by the number of answers that the conversation already
// holds. A request that is sent again after a crash gets the same reply again.
func Turns(replies ...Reply) Script {
	return func(_ int, r Request) Reply { return at(replies, r.Turns()) }
}

// Always gives one reply to everything.
func Always(reply Reply) Script {
	return func(int, Request) Reply { return reply }
}

func at(replies []Reply, i int) Reply {
	if i >= len(replies) {
		return Error(http.StatusInternalServerError, "script_exhausted", "script exhausted")
	}
	return replies[i]
}
