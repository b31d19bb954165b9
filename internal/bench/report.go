package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// report prints tables of figures, each with its goal if it has one.
type report struct {
	out   io.Writer
	table *tabwriter.Writer
}

func (r *report) title(format string, args ...any) {
	r.flush()
	fmt.Fprintf(r.out, "\n"+format+"\n", args...)
	r.table = tabwriter.NewWriter(r.out, 0, 0, 2, ' ', 0)
}

func (r *report) flush() {
	if r.table != nil {
		r.table.Flush()
		r.table = nil
	}
}

// figure prints a value that has no goal.
func (r *report) figure(name string, value float64, unit string) {
	fmt.Fprintf(r.table, "  %s\t%s\t%s\n", name, digits(value), unit)
}

// note prints why there is no value.
func (r *report) note(name, why string) { fmt.Fprintf(r.table, "  %s\t%s\n", name, why) }

// least prints a value that should not be under its goal.
func (r *report) least(name string, value float64, unit string, goal float64) {
	r.judge(name, value, unit, "≥", goal, value >= goal)
}

// most prints a value that should not be over its goal.
func (r *report) most(name string, value float64, unit string, goal float64) {
	r.judge(name, value, unit, "≤", goal, value <= goal)
}

func (r *report) judge(name string, value float64, unit, sign string, goal float64, met bool) {
	verdict := "missed"
	if met {
		verdict = "met"
	}
	fmt.Fprintf(r.table, "  %s\t%s\t%s\tgoal %s %v: %s\n", name, digits(value), unit, sign, goal, verdict)
}

func digits(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
