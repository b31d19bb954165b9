package sanitize

import "testing"

func TestTitle(t *testing.T) {
	for title, want := range map[string]string{
		"Greet the world": "Greet the world", "Port to C# 12 & F#": "Port to C# 12 & F#", "mail a@ b": "mail a@ b", "挨拶を書く！": "挨拶を書く！",
		"Closes #2": "Closes 2", "fixes acme/other#3": "fixes acme/other3", "Resolve GH-4": "Resolve 4", "closes !5 and &6": "closes 5 and 6",
		"hello @everyone": "hello everyone", "fix https://github.com/o/r/issues/3": "fix https: //github.com/o/r/issues/3", "##7": "7", "@@x": "x",
		"#GH-4": "4", "@!1": "1", "#@2": "2",
	} {
		if got := Title(title); got != want {
			t.Errorf("%q: %q, want %q", title, got, want)
		}
	}
}

// TestUnclosing: GitLab looks for closing words in the source of a text, where code is text as well.
func TestUnclosing(t *testing.T) {
	for text, want := range map[string]string{
		"`Closes #2` and fixes: acme/other#3, #4": "`Closes · #2` and fixes · acme/other#3, #4", "Resolving issue #5": "Resolving · issue #5",
		"closes \t GH-6": "closes · GH-6", "implements https://h/o/r/issues/7": "implements · https://h/o/r/issues/7", "closes:#8": "closes · #8",
		"fix\u00a0!9": "fix · !9", "Fix UTF-8 in C#7; a fix for #2": "Fix UTF-8 in C#7; a fix for #2", "closes a door": "closes a door",
	} {
		got := Unclosing(text)
		if got != want || Unclosing(got) != got {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
