package page

import (
	"fmt"
	"html/template"
	"strings"
)

// Bar is one bar of a chart, of up to two values on top of each other.
type Bar struct {
	Name   string
	Values [2]float64
	Text   string // what it says when it is pointed at
	Link   string // where it leads; must be ours
	Bad    bool
}

// Chart is bars beside each other.
type Chart struct {
	Title, Unit string
	Legend      [2]string
	Bars        []Bar
	Max         string // what the highest bar says
	None        string // said if all values are 0
}

const (
	chartWidth, chartHeight = 720, 110
	mostBars                = 240
)

// SVG draws the chart. Colours come from the style sheet, so that they fit dark and light.
func (c Chart) SVG() template.HTML {
	var b strings.Builder
	fmt.Fprintf(&b, `<figure class="chart"><figcaption>%s`, attr(c.Title))
	for i, name := range c.Legend {
		if name != "" {
			fmt.Fprintf(&b, ` <span class="key k%d">%s</span>`, i, attr(name))
		}
	}
	bars, largest := folded(c.Bars), 0.0
	for _, bar := range bars {
		largest = max(largest, bar.Values[0]+bar.Values[1])
	}
	if largest == 0 {
		return template.HTML(b.String() + `</figcaption><p class="none">` + attr(c.None) + `</p></figure>`)
	}
	fmt.Fprintf(&b, ` <span class="max">%s</span></figcaption>`, attr(c.Max))
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" role="img" aria-label="%s" preserveAspectRatio="none">`, chartWidth, chartHeight, attr(c.Title))
	width := float64(chartWidth) / float64(max(len(bars), 12))
	for i, bar := range bars {
		draw(&b, bar, float64(i)*width, width, largest)
	}
	fmt.Fprintf(&b, `<line x1="0" x2="%d" y1="%d" y2="%d"/></svg></figure>`, chartWidth, chartHeight, chartHeight)
	return template.HTML(b.String())
}

func draw(b *strings.Builder, bar Bar, x, width, largest float64) {
	gap := min(width*0.15, 3)
	if bar.Link != "" {
		fmt.Fprintf(b, `<a href="%s">`, attr(bar.Link))
	}
	fmt.Fprintf(b, `<g><title>%s</title>`, attr(bar.Text))
	fmt.Fprintf(b, `<rect class="hit" x="%.1f" y="0" width="%.1f" height="%d"/>`, x, width, chartHeight)
	y := float64(chartHeight)
	for i, v := range bar.Values {
		h := v / largest * (chartHeight - 2)
		if v <= 0 {
			continue
		}
		h = max(h, 1)
		y -= h
		class := fmt.Sprintf("v%d", i)
		if bar.Bad {
			class += " bad"
		}
		fmt.Fprintf(b, `<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, class, x+gap, y, width-2*gap, h)
	}
	b.WriteString("</g>")
	if bar.Link != "" {
		b.WriteString("</a>")
	}
}

// folded adds up neighbours if there are too many bars.
func folded(bars []Bar) []Bar {
	if len(bars) <= mostBars {
		return bars
	}
	per := (len(bars) + mostBars - 1) / mostBars
	var out []Bar
	for i := 0; i < len(bars); i += per {
		part := bars[i:min(i+per, len(bars))]
		sum := part[0]
		for _, p := range part[1:] {
			sum.Values[0] += p.Values[0]
			sum.Values[1] += p.Values[1]
			sum.Bad = sum.Bad || p.Bad
		}
		sum.Text = part[0].Name + " – " + part[len(part)-1].Name
		out = append(out, sum)
	}
	return out
}

// Meter is a bar in a line of a table.
func Meter(value, largest float64, title string) template.HTML {
	if largest <= 0 {
		return ""
	}
	return template.HTML(fmt.Sprintf(`<svg class="meter" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label="%s"><rect class="v0" width="%.1f" height="10"/></svg>`,
		attr(title), min(value/largest*100, 100)))
}

// attr is a text that may stand in an attribute.
func attr(s string) string { return template.HTMLEscapeString(s) }
