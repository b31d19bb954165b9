package page

import (
	"agent/internal/i18n"
	"agent/internal/timeline"
	"agent/internal/watch"
)

// StepCharts draws tokens, money and time of steps.
func StepCharts(d *Doc, steps []timeline.Sum, link func(timeline.Sum) string) []HTML {
	return charts(d, steps, "page.chart.step", func(s timeline.Sum) string { return stepName(d.Lang, s) }, link)
}

// stepName is the name of a step, or of a model call between steps.
func stepName(lang i18n.Lang, s timeline.Sum) string {
	if s.Purpose != "" {
		return i18n.Phase(lang, s.Purpose)
	}
	return i18n.Text(lang, "page.step", s.Step)
}

func phaseCharts(d *Doc, b *builder) []HTML {
	return charts(d, b.rows.Phases, "page.chart.phase", func(s timeline.Sum) string { return b.phaseName(s.Phase) }, func(s timeline.Sum) string {
		for i, p := range d.Phases {
			for _, step := range p.Steps {
				for _, r := range step.Rows {
					if r.Seq == s.First {
						return "#p" + number(i+1)
					}
				}
			}
		}
		return ""
	})
}

func charts(d *Doc, sums []timeline.Sum, of i18n.ID, name, link func(timeline.Sum) string) []HTML {
	by := d.T(of)
	used := Chart{Title: d.T("page.chart.tokens", by), Legend: [2]string{d.T("page.prompt"), d.T("page.output.tokens")}, None: "–"}
	paid := Chart{Title: d.T("page.chart.usd", by), None: d.T("money.none") + ": –"}
	took := Chart{Title: d.T("page.chart.time", by), Legend: [2]string{d.T("page.time.model"), d.T("page.time.tools")}, None: "–"}
	var most [3]float64
	for _, s := range sums {
		n := name(s)
		at := link(s)
		bar := func(text string, values ...float64) Bar {
			b := Bar{Name: n, Text: n + ": " + text, Link: at, Bad: s.Failed > 0}
			copy(b.Values[:], values)
			return b
		}
		used.Bars = append(used.Bars, bar(tokens(s.Prompt+s.Completion, s.Estimated), float64(s.Prompt), float64(s.Completion)))
		paid.Bars = append(paid.Bars, bar(usd(s.Spent)+" USD", s.CostUSD))
		took.Bars = append(took.Bars, bar(duration(s.Seconds)+" + "+duration(s.ToolSeconds), s.Seconds, s.ToolSeconds))
		most[0] = max(most[0], float64(s.Prompt+s.Completion))
		most[1] = max(most[1], s.CostUSD)
		most[2] = max(most[2], s.Seconds+s.ToolSeconds)
	}
	used.Max, paid.Max, took.Max = watch.Count(int(most[0])), i18n.USD(most[1])+" USD", duration(most[2])
	return []HTML{used.SVG(), paid.SVG(), took.SVG()}
}
