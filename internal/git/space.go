package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"
)

// lookEvery is the time between two looks at how large a clone has become. What
// arrives in between is the most by which it passes its bound.
const lookEvery = time.Second

var errTooLarge = errors.New("too large")

// within ends what it gives as soon as dir holds more than most bytes; 0 is no
// bound. A server says nothing of a repository's size beforehand, and a small
// pack can hold large files.
func within(ctx context.Context, dir string, most int64) (bounded context.Context, stop func()) {
	if most <= 0 {
		return ctx, func() {}
	}
	bounded, cancel := context.WithCancelCause(ctx)
	go func() {
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for {
			select {
			case <-bounded.Done():
				return
			case <-tick.C:
				if size(dir) > most {
					cancel(errTooLarge)
				}
			}
		}
	}()
	return bounded, func() { cancel(nil) }
}

// size adds up the files below dir. One that goes away meanwhile counts as nothing.
func size(dir string) (total int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			total += info.Size()
		}
		return nil
	})
	return total
}

// judge is the error of a clone that within has ended, or that grew too large
// between two looks, else err.
func judge(bounded context.Context, dir string, most int64, err error) error {
	ended := err != nil && errors.Is(context.Cause(bounded), errTooLarge)
	if ended || err == nil && most > 0 && size(dir) > most {
		return &Error{"clone", TooLarge, fmt.Sprintf("the repository takes more than %d MiB", most>>20)}
	}
	return err
}
