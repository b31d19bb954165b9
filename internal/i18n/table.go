package i18n

// ID names a text.
type ID string

type pair struct{ en, ja string }

var table = map[ID]pair{}
