package page

import (
	"fmt"
	"html"
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
func (c Chart) SVG() HTML {
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
		return HTML(b.String() + `</figcaption><p class="none">` + attr(c.None) + `</p></figure>`)
	}
	fmt.Fprintf(&b, ` <span class="max">%s</span></figcaption>`, attr(c.Max))
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" role="img" aria-label="%s" preserveAspectRatio="none">`, chartWidth, chartHeight, attr(c.Title))
	width := float64(chartWidth) / float64(max(len(bars), 12))
	var paths [4]strings.Builder // by series, those of steps with failures apart
	for i, bar := range bars {
		draw(&paths, bar, float64(i)*width, width, largest)
	}
	for i := range paths {
		if d := paths[i].String(); d != "" {
			fmt.Fprintf(&b, `<path class="v%d%s" d="%s"/>`, i%2, []string{"", " bad"}[i/2], d)
		}
	}
	for i, bar := range bars { // over the bars, so that all of their column says what it is
		point(&b, bar, float64(i)*width, width)
	}
	fmt.Fprintf(&b, `<line x1="0" x2="%d" y1="%d" y2="%d"/></svg></figure>`, chartWidth, chartHeight, chartHeight)
	return HTML(b.String())
}

// draw adds a bar to the paths. A path has many bars: of elements for each of them a page
// of hundreds of steps would open slowly.
func draw(paths *[4]strings.Builder, bar Bar, x, width, largest float64) {
	gap := min(width*0.15, 3)
	y := float64(chartHeight)
	for i, v := range bar.Values {
		if v <= 0 {
			continue
		}
		h := max(v/largest*(chartHeight-2), 1)
		y -= h
		if bar.Bad {
			i += 2
		}
		fmt.Fprintf(&paths[i], "M%.1f %.1fh%.1fv%.1fh%.1fz", x+gap, y, width-2*gap, h, 2*gap-width)
	}
}

// point is what is pointed at.
func point(b *strings.Builder, bar Bar, x, width float64) {
	if bar.Link != "" {
		fmt.Fprintf(b, `<a href="%s">`, attr(bar.Link))
	}
	fmt.Fprintf(b, `<rect x="%.1f" width="%.1f" height="%d"><title>%s</title></rect>`, x, width, chartHeight, attr(bar.Text))
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
func Meter(value, largest float64, title string) HTML {
	if largest <= 0 {
		return ""
	}
	return HTML(fmt.Sprintf(`<svg class="meter" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label="%s"><rect class="v0" width="%.1f" height="10"/></svg>`,
		attr(title), min(value/largest*100, 100)))
}

// attr is a text that may stand in an attribute.
func attr(s string) string { return html.EscapeString(s) }
