package main

import (
	"testing"
	"time"
)

func TestCompare(t *testing.T) {
	var now time.Duration
	var order string
	work := func(name string, takes time.Duration, units float64) side {
		return side{name, func() float64 { order += name; now += takes; return units }}
	}
	o := compare(3, func() time.Duration { return now }, work("a", 2*time.Second, 1), work("b", 3*time.Second, 6))
	if order != "abbaabba" {
		t.Errorf("order %q", order)
	}
	if a, b, speed := o.seconds("a"), o.seconds("b"), o.speed("b", "a"); a != 2 || b != 0.5 || speed != 4 {
		t.Errorf("a %v, b %v, b as fast as a %v times", a, b, speed)
	}
}

func TestQuantile(t *testing.T) {
	x := []float64{5, 1, 4, 2, 3}
	for q, want := range map[float64]float64{0: 1, 0.5: 3, 0.95: 5, 1: 5} {
		if got := quantile(x, q); got != want {
			t.Errorf("%v: %v, want %v", q, got, want)
		}
	}
}
