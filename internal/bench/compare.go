package main

import (
	"slices"
	"syscall"
	"time"
)

// side is one contestant. do does one round of work and tells how many units that were.
type side struct {
	name string
	do   func() float64
}

// outcome holds the time per unit of every side in every round, in seconds.
type outcome struct {
	sides []side
	per   [][]float64
}

// compare lets the sides take turns. Who begins rotates, so that nobody always
// comes after the same neighbour. A first round is not counted.
func compare(rounds int, clock func() time.Duration, sides ...side) outcome {
	o := outcome{sides: sides, per: make([][]float64, len(sides))}
	for r := range rounds + 1 {
		for k := range sides {
			i := (r + k) % len(sides)
			start := clock()
			units := sides[i].do()
			per := (clock() - start).Seconds() / units
			if r > 0 {
				o.per[i] = append(o.per[i], per)
			}
		}
	}
	return o
}

// seconds is the median time per unit of a side.
func (o outcome) seconds(name string) float64 { return median(o.of(name)) }

// speed is the median over the rounds of how many times as fast as b side a was.
func (o outcome) speed(a, b string) float64 {
	ta, tb := o.of(a), o.of(b)
	ratios := make([]float64, len(ta))
	for i := range ta {
		ratios[i] = tb[i] / ta[i]
	}
	return median(ratios)
}

func (o outcome) of(name string) []float64 {
	i := slices.IndexFunc(o.sides, func(s side) bool { return s.name == name })
	return o.per[i]
}

func median(x []float64) float64 { return quantile(x, 0.5) }

// quantile is NaN-free only for lists that are not empty.
func quantile(x []float64, q float64) float64 {
	s := slices.Sorted(slices.Values(x))
	return s[min(int(q*float64(len(s))), len(s)-1)]
}

var began = time.Now()

// wall is for work that waits for the disk.
func wall() time.Duration { return time.Since(began) }

// cpu is the time that this process has worked, whoever else is on the machine.
func cpu() time.Duration { return worked(syscall.RUSAGE_SELF) }

// childCPU is the time that processes started here have worked, those that they started too.
func childCPU() time.Duration { return worked(syscall.RUSAGE_CHILDREN) }

func worked(who int) time.Duration {
	var u syscall.Rusage
	must(syscall.Getrusage(who, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
