package i18n

import (
	"maps"
	"sync"
)

// ID names a text.
type ID string

type pair struct{ en, ja string }

type texts map[ID]pair

var parts = []texts{commentTexts, planTexts, reasonTexts, failureTexts, modelTexts, changeTexts, commandTexts, inspectTexts, doctorTexts, setupTexts,
	demoTexts, roundTexts, endTexts, watchTexts, stateTexts, fileTexts, terminalTexts, taskFileTexts, movedTexts, treeTexts, tryTexts, moneyTexts,
	cacheTexts, containerTexts, packagedTexts, forkTexts, doctorNames,
	exportTexts,
	webhookTexts,
	approvalTexts,
	wishTexts,
	notifyTexts,
	searchTexts,
	turnTexts,
	uiKeyTexts,
	uiHintTexts,
	rowTexts,
	sentenceTexts,
	vocabularyTexts,
	clusterTexts, migrateTexts,
	healthTexts,
	pageTexts, webTexts, uiTexts}

// table is made when the first text is asked for.
var table = sync.OnceValue(func() texts { return union(parts...) })

func union(parts ...texts) texts {
	all := texts{}
	for _, part := range parts {
		maps.Copy(all, part)
	}
	return all
}
