package llmtest

import (
	"fmt"
	"strings"
)

// Dialects are strict servers, one for each way of speaking that people use.
var Dialects = []Dialect{
	{Name: "OpenAI, chat", Model: "gpt-5", Rules: openaiRules},
	{Name: "OpenAI, responses", Model: "gpt-6-astra", Gives: GivesEncrypted, Rules: responsesRules},
	{Name: "Azure, deployment", Model: "my-deployment", Profile: "azure", Azure: true, Rules: append([]Rule{
		{"the key in its header", "https://learn.microsoft.com/en-us/azure/ai-services/openai/reference", 401, func(s Sent) string {
			return unless(s.Header.Get("api-key") != "", "Access denied due to invalid subscription key or wrong API endpoint.")
		}},
		{"a version of the API", "https://learn.microsoft.com/en-us/azure/ai-services/openai/reference", 404, func(s Sent) string {
			return unless(strings.Contains(s.Query, "api-version="), "Resource not found")
		}},
	}, openaiRules...)},
	// It takes the key as a bearer token too, as the examples of the page have it.
	{Name: "Azure, v1", Model: "my-deployment", Profile: "azure", Base: "/openai/v1", Rules: append([]Rule{
		{"a key", "https://learn.microsoft.com/en-us/azure/foundry/openai/api-version-lifecycle", 401, func(s Sent) string {
			return unless(s.Header.Get("api-key") != "" || s.Header.Get("Authorization") != "", "Access denied due to invalid subscription key or wrong API endpoint.")
		}},
	}, openaiRules...)},
	{Name: "DeepSeek, thinking", Model: "deepseek-v4-pro", Profile: "deepseek", Gives: GivesReasoning, Rules: []Rule{
		{"reasoning goes back", "https://api-docs.deepseek.com/guides/thinking_mode", 0, func(s Sent) string {
			for i, t := range s.Turns {
				text, there := t.Fields["reasoning_content"].(string)
				if t.Role != "assistant" {
					continue
				}
				if !there { // https://github.com/continuedev/continue/issues/11285: of every turn, but it may be empty
					return fmt.Sprintf("Missing `reasoning_content` field in the assistant message at message index %d. For more information, please refer to https://api-docs.deepseek.com/guides/thinking_mode#tool-calls", i)
				}
				if len(t.Calls) > 0 && text != "" && !strings.HasPrefix(text, reasoningBegins) { // not bound to ids, which may be mapped
					return "The `reasoning_content` in the thinking mode must be passed back to the API."
				}
			}
			return ""
		}},
		otherRoles("https://github.com/earendil-works/pi/issues/1048", "Failed to deserialize the JSON body into the target type: messages[%d].role: unknown variant `%s`, expected one of `system`, `user`, `assistant`, `tool`", "developer"),
		format("https://github.com/UKGovernmentBEIS/inspect_ai/issues/4916", "This response_format type is unavailable now", "json_schema"),
		{"the word json in the prompt", "https://github.com/browserbase/stagehand/issues/1204", 0, func(s Sent) string {
			return unless(formatOf(s) != "json_object" || mentions(s, "json"), "Prompt must contain the word 'json' in some form to use 'response_format' of type 'json_object'.")
		}},
	}},
	// As it was in 2025. Other servers of the open weights keep parts of it.
	{Name: "DeepSeek R1", Model: "deepseek-r1", Rules: []Rule{
		unknownFields("https://api-docs.deepseek.com/guides/reasoning_model", "messages[%d]: the %s of earlier rounds must not be sent", "assistant", "reasoning_content"),
		{"no tools", "https://github.com/vercel/ai/issues/4727", 0, func(s Sent) string {
			return unless(!offers(s), "deepseek-reasoner does not support Function Calling")
		}},
		pairs("https://github.com/open-webui/open-webui/issues/9266", func(a, b Turn, i int) string {
			return unless(a.Role != b.Role || a.Role == "system", fmt.Sprintf("deepseek-reasoner does not support successive user or assistant messages (messages[%d] and messages[%d] in your input). You should interleave the user/assistant messages in the message sequence.", i-1, i))
		}),
		beginsWithUser("https://github.com/ChatGPTNextWeb/NextChat/issues/6343", "The first message (except the system message) of deepseek-reasoner must be a user message, but an assistant message detected."),
		// That it is unsupported is public; the words of the refusal are not.
		format("https://github.com/deepseek-ai/DeepSeek-R1/issues/614", "deepseek-reasoner does not support response_format KIND", "json_object", "json_schema"),
	}},
	{Name: "Gemini 3", Model: "gemini-3-pro", Profile: "gemini", Gives: GivesSignatures, IDs: ids("gemini"), Rules: []Rule{
		{"signatures of calls", "https://ai.google.dev/gemini-api/docs/thought-signatures", 0, func(s Sent) string {
			for i, t := range s.Turns {
				if len(t.Calls) > 0 && !signed(t.Calls[0]) {
					return fmt.Sprintf("Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call, position %d. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.", i)
				}
			}
			return ""
		}},
		{"names of results", "https://github.com/NousResearch/hermes-agent/pull/19728", 0, func(s Sent) string {
			for _, t := range s.Turns {
				if name, _ := t.Fields["name"].(string); t.Role == "tool" && name == "" {
					return "Request contains an invalid argument."
				}
			}
			return ""
		}},
		{"no format beside tools", "https://github.com/vercel/ai/pull/16540", 0, func(s Sent) string {
			return unless(!offers(s) || formatOf(s) == "", "Function calling with a response mime type: 'application/json' is unsupported")
		}},
		// No public statement found for messages; reported for fields of the request, see the next rule.
		unknownFields("https://github.com/MinLL/SkyrimNet-GamePlugin/issues/77", "Invalid JSON payload received. Unknown name at 'messages[%d]': %s", "assistant", "reasoning_content", "reasoning_details"),
		noFields("https://github.com/MinLL/SkyrimNet-GamePlugin/issues/77", "Invalid JSON payload received. Unknown name \"%s\": Cannot find field.", "reasoning", "frequency_penalty", "top_k"),
		noFields("https://github.com/leookun/cursor-byok/issues/112", "Invalid JSON payload received. Unknown name \"%s\": Cannot find field.", "prompt_cache_key"),
		pairs("https://github.com/google-gemini/gemini-cli/issues/11814", func(a, b Turn, _ int) string {
			return unless(len(b.Calls) == 0 || a.Role == "user" || a.Role == "tool", "Please ensure that function call turn comes immediately after a user turn or after a function response turn.")
		}),
	}},
	{Name: "Groq", Model: "llama-3.3-70b-versatile", Profile: "groq", Rules: []Rule{
		unknownFields("https://console.groq.com/docs/openai", "'messages.%[1]d' : for 'role:tool' the following must be satisfied[('messages.%[1]d' : property '%[2]s' is unsupported)]", "tool", "name"),
		unknownFields("https://console.groq.com/docs/openai", groqAssistant, "assistant", "name"),
		unknownFields("https://github.com/karthink/gptel/issues/774", groqAssistant, "assistant", "reasoning"),
		unknownFields("https://github.com/janhq/jan/issues/8136", groqAssistant, "assistant", "reasoning_content"),
		// No public statement found for these two; reported for others that it does not know.
		unknownFields("https://github.com/chatboxai/chatbox/issues/2083", groqAssistant, "assistant", "reasoning_details", "extra_content"),
		noFields("https://github.com/fanenr/chatbot/issues/21", "property '%s' is unsupported, did you mean 'stop'?", "store"),
		noFields("https://console.groq.com/docs/openai", "property '%s' is unsupported", "logprobs", "logit_bias", "top_logprobs"),
		// That it must be one is documented; the words are not.
		{"one choice", "https://console.groq.com/docs/openai", 0, func(s Sent) string {
			n, there := s.Body["n"]
			return unless(!there || n == 1.0, "'n' : number must be at most 1")
		}},
		{"no format beside tools", "https://github.com/agno-agi/agno/issues/1065", 0, func(s Sent) string {
			return unless(!offers(s) || formatOf(s) == "", "'response_format' json_object cannot be combined with tool/function calling")
		}},
	}},
	{Name: "Mistral", Model: "mistral-large-latest", Profile: "mistral", IDs: nineIDs, Listed: true, Rules: []Rule{
		shortIDs("https://github.com/nearai/ironclaw/issues/1241", "Tool call id was %s but must be a-z, A-Z, 0-9, with a length of 9.", 400),
		pairs("https://github.com/avante-corp/avante.nvim/pull/2695", func(a, b Turn, _ int) string {
			return unless(a.Role != "tool" || b.Role == "tool" || b.Role == "assistant", "Unexpected role '"+b.Role+"' after role 'tool'")
		}),
		// No public statement found for the system's role; the form is that of the rule above.
		pairs("https://github.com/avante-corp/avante.nvim/pull/2695", func(a, b Turn, _ int) string {
			return unless(b.Role != "system" || a.Role == "system", "Unexpected role 'system' after role '"+a.Role+"'")
		}),
		{"the last word is not the model's", "https://github.com/huggingface/smolagents/issues/757", 0, func(s Sent) string {
			return unless(len(s.Turns) == 0 || s.Turns[len(s.Turns)-1].Role != "assistant", "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant")
		}},
		unknownFields("https://github.com/BerriAI/litellm/issues/30835", `[{"type":"extra_forbidden","loc":["body","messages",%d,"assistant","%s"],"msg":"Extra inputs are not permitted","input":"I"}]`, "assistant", "reasoning_content", "reasoning_details").with(422),
		noFields("https://github.com/dnakov/anon-kode/issues/53", `[{"type":"extra_forbidden","loc":["body","%s","include_usage"],"msg":"Extra inputs are not permitted","input":true}]`, "stream_options").with(422),
		noFields("https://github.com/editor-code-assistant/eca/issues/231", `[{"type":"extra_forbidden","loc":["body","%s"],"msg":"Extra inputs are not permitted"}]`, "max_completion_tokens").with(422),
		// Reported in 2024, under another field that it did not know then.
		noFields("https://github.com/mistralai/platform-docs-public/issues/7", `[{"type":"extra_forbidden","loc":["body","%s"],"msg":"Extra inputs are not permitted"}]`, "store").with(422),
	}},
	{Name: "Mistral's template, vLLM", Model: "mistralai/Ministral-8B-Instruct-2410", IDs: nineIDs, Rules: []Rule{
		alternate("https://github.com/vllm-project/vllm/issues/6862", "After the optional system message, conversation roles must alternate user/assistant/user/assistant/...", 400,
			func(t Turn) bool { return t.Role == "tool" || len(t.Calls) > 0 }),
		shortIDs("https://github.com/ml-explore/mlx-lm/issues/1375", "Tool call IDs should be alphanumeric strings with length 9! (%s)", 400),
		systemFirst("https://github.com/anomalyco/opencode/issues/5034", "Only user, assistant and tool roles are supported, got system.", 400),
	}},
	{Name: "Gemma's template, llama.cpp", Model: "gemma-3-27b-it", Rules: []Rule{
		alternate("https://github.com/idiap/sdialog/issues/122", "Error: Jinja Exception: Conversation roles must alternate user/assistant/user/assistant/...", 500, nil),
	}},
	{Name: "Gemma's template, LM Studio", Mode: LMStudio, Model: "gemma-3-12b-it", Profile: "gemma-template", Flat: true, Rules: []Rule{
		alternate("https://github.com/SillyTavern/SillyTavern/issues/4349", "Error rendering prompt with jinja template: \"Conversation roles must alternate user/assistant/user/assistant/...\".", 400, nil),
	}},
	{Name: "Bedrock, gateway", Model: "bedrock/anthropic.claude-sonnet-4", Rules: []Rule{
		{"tools while there are calls", "https://github.com/langgenius/dify/issues/17545", 0, func(s Sent) string {
			return unless(!s.HasCalls || offers(s), "The toolConfig field must be defined when using toolUse and toolResult content blocks.")
		}},
		// The page does not say so; no public statement found, the words are those of AWS as reported.
		{"no blank text", "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ContentBlock.html", 0, func(s Sent) string {
			for i, t := range s.Turns {
				if t.HasText && strings.TrimSpace(t.Text) == "" {
					return fmt.Sprintf("The text field in the ContentBlock object at messages.%d.content.0 is blank. Add text to the text field, and try again.", i)
				}
			}
			return ""
		}},
		beginsWithUser("https://github.com/pydantic/pydantic-ai/issues/4495", "A conversation must start with a user message. Try again with a conversation that starts with a user message."),
		pairs("https://github.com/cline/cline/issues/431", func(a, b Turn, _ int) string {
			return unless(a.Role != b.Role || a.Role == "tool" || a.Role == "system", "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.")
		}),
		// One gateway of several: others ignore json_object, see https://github.com/BerriAI/litellm/issues/35214.
		format("https://github.com/mozilla-ai/any-llm/issues/1184", "[bedrock] 'response_format' KIND is not supported for bedrock.", "json_schema", "json_object"),
	}},
	{Name: "xAI", Model: "grok-4", Profile: "xai", Flat: true, Rules: []Rule{
		unknownFields("https://github.com/BerriAI/litellm/issues/9720", "Only messages of role 'user' can have a name. (%d, %s)", "tool", "name"),
		unknownFields("https://github.com/BerriAI/litellm/issues/9720", "Only messages of role 'user' can have a name. (%d, %s)", "system", "name"),
		unknownFields("https://github.com/BerriAI/litellm/issues/9720", "Only messages of role 'user' can have a name. (%d, %s)", "assistant", "name"),
		noFields("https://github.com/BerriAI/litellm/pull/16265", "Model grok-4 does not support parameter reasoningEffort. (%s)", "reasoning_effort"),
		noFields("https://github.com/lobehub/lobehub/issues/8381", "Argument not supported on this model: presencePenalty (%s)", "presence_penalty"),
	}},
	{Name: "OpenRouter", Model: "anthropic/claude-sonnet-4", Profile: "openrouter", Gives: GivesDetails, IDs: ids("router"), Rules: []Rule{
		{"details go back as they came", "https://openrouter.ai/docs/use-cases/reasoning-tokens", 0, func(s Sent) string {
			for i, t := range s.Turns {
				if len(t.Calls) > 0 && strings.HasPrefix(t.Calls[0].ID, "router_") && !detailed(t) {
					return fmt.Sprintf("messages.%d.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified (reasoning_details)", i)
				}
			}
			return ""
		}},
	}},
	// No public statement found of anything that it refuses and OpenAI takes.
	{Name: "Together", Model: "moonshotai/Kimi-K2-Instruct", Profile: "together"},
	{Name: "Qwen's template, vLLM", Model: "qwen3.6-27b", Profile: "vllm", Rules: []Rule{
		systemFirst("https://github.com/vllm-project/vllm/issues/41114", "System message must be at the beginning.", 400),
	}},
	{Name: "Qwen's template, llama.cpp", Model: "qwen3.5-27b", Profile: "llamacpp", Rules: []Rule{
		systemFirst("https://github.com/ggml-org/llama.cpp/issues/20733", "Unable to generate parser for this template. Error: Jinja Exception: System message must be at the beginning.", 400),
	}},
	{Name: "LM Studio", Mode: LMStudio, Model: "qwen3-coder-30b", Profile: "lmstudio", Flat: true},
	{Name: "Anthropic", Mode: Anthropic, Model: "claude-sonnet-4-6", Profile: "anthropic", Gives: GivesThinking},
	{Name: "Anthropic, adaptive and bound", Mode: Anthropic, Model: "claude-sonnet-5-5", Profile: "anthropic", Gives: GivesThinking, Thinks: 2048},
	{Name: "Anthropic, by budget", Mode: Anthropic, Model: "claude-haiku-4-5", Profile: "anthropic", Gives: GivesThinking, Thinks: 2048},
	{Name: "Ollama, native", Mode: Ollama, Model: "qwen3", Gives: GivesReasoning, IDs: ids("ollama"), Rules: []Rule{
		// Ollama refuses nothing here: it is its documentation that wants thoughts back.
		{"thinking goes back", "https://docs.ollama.com/capabilities/streaming", 0, func(s Sent) string {
			for i, t := range s.Turns {
				if len(t.Calls) > 0 && strings.HasPrefix(t.Calls[0].ID, "ollama_") && t.Fields["thinking"] != reasoningFor(t.Calls[0].ID) {
					return fmt.Sprintf("messages[%d]: the thinking of the model was not passed back", i)
				}
			}
			return ""
		}},
	}},
}

const groqAssistant = "'messages.%[1]d' : for 'role:assistant' the following must be satisfied[('messages.%[1]d' : property '%[2]s' is unsupported, did you mean 'role'?)]"

func unless(ok bool, words string) string {
	if ok {
		return ""
	}
	return words
}

func mentions(s Sent, word string) bool {
	for _, t := range s.Turns {
		if strings.Contains(strings.ToLower(t.Text), word) {
			return true
		}
	}
	return false
}

// signed is true for a call with the signature that it was given, or with the one
// that Google documents for calls of other models.
func signed(c SentCall) bool {
	extra, _ := c.Fields["extra_content"].(map[string]any)
	google, _ := extra["google"].(map[string]any)
	signature, _ := google["thought_signature"].(string)
	if strings.HasPrefix(c.ID, "gemini_") {
		return signature == signatureFor(c.ID)
	}
	return signature == "skip_thought_signature_validator"
}

func detailed(t Turn) bool {
	list, _ := t.Fields["reasoning_details"].([]any)
	if len(list) != 1 {
		return false
	}
	d, _ := list[0].(map[string]any)
	return d["text"] == reasoningFor(t.Calls[0].ID) && d["signature"] == signatureFor(t.Calls[0].ID)
}

// ids are those of one server, which it knows again.
func ids(server string) func(turn, i int) string {
	return func(turn, i int) string { return fmt.Sprintf("%s_%d_%d", server, turn, i) }
}

// nineIDs are ids as Mistral gives them.
func nineIDs(turn, i int) string { return fmt.Sprintf("m%05dx%02d", turn, i) }
