package handlers

import "testing"

// What ends a talk: thanks and consent, and nothing else. A comment without words is
// neither thanks nor a wish.
func TestIsThanks(t *testing.T) {
	const thanks, wish, wordless = "thanks", "wish", "no words"
	for comment, want := range map[string]string{
		"ありがとうございます": thanks, "ありがとうございました！": thanks, "ありがとう。助かりました。": thanks, "どうもありがとうございました": thanks,
		"了解です。": thanks, "問題ありません。ありがとうございます！": thanks, "OK": thanks, "LGTM, thanks!": thanks, "Thank you very much.": thanks,
		"thanks 👍": thanks, "@helper thanks!": thanks, "Thanks @Helper": thanks, "> What about X?\n\nThanks!": thanks, "@helper[bot] ありがとうございます": thanks,

		"👍": wordless, "🎉🎉": wordless, "!!!": wordless, "": wordless, "> ok": wordless,

		"```\nok\n```": wish, "~~~\ndone\n~~~": wish, "    ok": wish, "`ok`": wish, "\tthanks": wish, "Thanks!\n```\npanic: nil\n```": wish,
		"@bob thanks!": wish, "Thanks @bob": wish, "thanks to bob": wish, "Thanks, @bob and @helper!": wish, "ありがとう @bob": wish, "(@bob) thanks": wish,
		"ありがとうございます。でもまだ動きません。": wish, "Not done": wish, "ok?": wish, "完了していません": wish, "OK, but add a test": wish,
		"The token is broken. まだ完了していません。": wish, "token": wish, "完了していない": wish, "Thanks! Now also add tests": wish, "ok but the test fails": wish,
		"Thanks! OK?": wish, "完了？": wish, "ありがとう。でもテストも追加して": wish, "完了です 🎉": thanks, "OK, thank you.": thanks, "> thanks": wordless,
		"thanks in advance": wish, "Is it done？": wish,
	} {
		got := wordless
		switch isThanks, words := isThanks(comment, "", "helper"); {
		case isThanks:
			got = thanks
		case words:
			got = wish
		}
		if got != want {
			t.Errorf("%q: %s, want %s", comment, got, want)
		}
	}
	for comment, want := range map[string]bool{"thanks": false, "Merge it!": true} { // a list in the configuration replaces the defaults
		if got, _ := isThanks(comment, "merge it", "helper"); got != want {
			t.Errorf("%q: %v", comment, got)
		}
	}
}
