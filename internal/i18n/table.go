package i18n

import "maps"

// ID names a text.
type ID string

type pair struct{ en, ja string }

type texts map[ID]pair

var table = union(commentTexts, planTexts, reasonTexts, failureTexts, modelTexts, changeTexts, commandTexts, inspectTexts, doctorTexts, setupTexts, demoTexts, roundTexts)

func union(parts ...texts) texts {
	all := texts{}
	for _, part := range parts {
		maps.Copy(all, part)
	}
	return all
}
