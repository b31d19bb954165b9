package i18n

import (
	"cmp"
	"strings"
)

// Who is a person, and how that person asked.
func Who(lang Lang, by, actor string) string {
	how := by
	if id := ID("tui.how." + by); Has(id) {
		how = Text(lang, id)
	}
	if actor == "" {
		if id := ID("row.by." + by); Has(id) {
			how = Text(lang, id)
		}
		return cmp.Or(how, "?")
	}
	if by != "command" { // whose actor is an account of the machine
		actor = "@" + strings.TrimPrefix(actor, "@")
	}
	return Text(lang, "row.who", actor, how)
}
