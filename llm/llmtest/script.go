package llmtest

import (
	"net/http"

	"agent/llm"
)

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

// RefuseSchema refuses each request with a schema, in the words of the API, and
// leaves the others to script. N of script counts the refused ones too.
func RefuseSchema(script Script) Script {
	words := map[string]string{
		llm.APIChat:      "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
		llm.APIResponses: "Invalid parameter: 'text.format' of type 'json_schema' is not supported with this model.",
		llm.APINative:    "json: cannot unmarshal object into Go struct field ChatRequest.format of type string",
	}
	return func(n int, r Request) Reply {
		if len(r.Schema) > 0 {
			return Error(http.StatusBadRequest, "", words[r.API])
		}
		return script(n, r)
	}
}

func at(replies []Reply, i int) Reply {
	if i >= len(replies) {
		return Error(http.StatusInternalServerError, "script_exhausted", "script exhausted")
	}
	return replies[i]
}
