package llm

import "unicode/utf8"

// Whole conversations are weighed before and after every request, and text
// changes its class every few characters, which a processor cannot foresee. So
// the sums over runs are turned into a table of steps, one per character,
// without branches: what a run is known to weigh at least is added while it
// grows, the rest when the next one begins.

// kind is a class, or upperKind for an upper-case ASCII letter.
type kind = uint8

const (
	upperKind = kind(classOther) + 1
	kinds     = int(upperKind) + 1

	// Runs are told apart by length up to longRun; from there on the length
	// counts in periods, since weights grow by the same in each.
	longRun   = 9
	runPeriod = 3
	runStates = longRun + runPeriod - 1
)

// weigher sums runs of text.
type weigher struct {
	steps [1 + kinds*runStates][kinds]step // 0 is the start
	last  [1 + kinds*runStates]uint16      // what the end of the text adds
}

type step struct {
	add  uint16
	next uint8
}

// newWeigher makes the table for a weight of runs. With words, an upper-case
// letter after a lower-case one begins a new run. End stands for what follows the text.
func newWeigher(weight runWeigher, words bool, end class) *weigher {
	w := &weigher{}
	for k := range kind(kinds) {
		w.steps[0][k] = step{weight.least(classOfKind(k), 1), runState(k, 1)}
		for n := 1; n <= runStates; n++ {
			c := classOfKind(k)
			w.last[runState(k, n)] = uint16(weight(c, n, end)) - weight.least(c, n)
			for to := range kind(kinds) {
				broken := words && to == upperKind && k != upperKind
				w.steps[runState(k, n)][to] = weight.step(k, n, to, broken)
			}
		}
	}
	return w
}

// runWeigher weighs a run of n characters of class c that is followed by next.
type runWeigher func(c class, n int, next class) int

// step is what follows a run of n with to; broken ends the run even within its class.
func (weight runWeigher) step(from kind, n int, to kind, broken bool) step {
	a, b := classOfKind(from), classOfKind(to)
	if a == b && !broken {
		return step{weight.least(a, n+1) - weight.least(a, n), runState(to, n+1)}
	}
	return step{uint16(weight(a, n, b)) - weight.least(a, n) + weight.least(b, 1), runState(to, 1)}
}

// least is what a run weighs whatever follows.
func (weight runWeigher) least(c class, n int) uint16 {
	sum := weight(c, n, classSpace)
	for next := range classOther + 1 {
		sum = min(sum, weight(c, n, next))
	}
	return uint16(sum)
}

func classOfKind(k kind) class {
	if k == upperKind {
		return classLetter
	}
	return class(k)
}

func runState(k kind, n int) uint8 {
	if n > runStates {
		n -= runPeriod
	}
	return uint8(int(k)*runStates + n)
}

// sum weighs a text.
func (w *weigher) sum(text string) int {
	sum, state := 0, uint8(0)
	for i := 0; i < len(text); {
		k, size := kindASCII[text[i]], 1
		if text[i] >= utf8.RuneSelf {
			var r rune
			r, size = utf8.DecodeRuneInString(text[i:])
			k = kind(classOf(r))
		}
		s := w.steps[state][k]
		sum += int(s.add)
		state = s.next
		i += size
	}
	return sum + int(w.last[state])
}

// kindASCII holds the kinds of ASCII characters.
var kindASCII = func() (t [256]kind) {
	for r := range rune(utf8.RuneSelf) {
		t[r] = kind(classOf(r))
		if 'A' <= r && r <= 'Z' {
			t[r] = upperKind
		}
	}
	return t
}()
