package snapshot

import (
	"fmt"
	"testing"
)

// BenchmarkSave is one save in a copy of 10,000 files.
func BenchmarkSave(b *testing.B) {
	files := map[string]string{".gitignore": "build/\n*.log\n"}
	for i := range 10_000 {
		files[fmt.Sprintf("pkg%02d/sub%d/file%03d.go", i/200, i/40%5, i)] = fmt.Sprintf("package p\n\n// File %d.\nvar X%d = %d\n", i, i, i)
	}
	r := newRepo(b, Options{}, files)
	r.save(Request{})
	for _, c := range []struct {
		name string
		path []string
		do   func(n int)
	}{
		{"nothing changed", nil, func(int) {}},
		{"command changed a file", nil, func(n int) { r.write("pkg07/sub1/file1440.go", fmt.Sprint("package p // ", n)) }},
		{"edit", []string{"pkg00/sub0/file003.go"}, func(n int) { r.write("pkg00/sub0/file003.go", fmt.Sprint("package p // ", n)) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				c.do(b.N * 1000)
				b.StartTimer()
				r.save(Request{Paths: c.path})
			}
		})
	}
}
