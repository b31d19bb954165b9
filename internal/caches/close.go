package caches

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"agent/internal/fsx"
)

// Keep says what of a context's copy later contexts may use.
type Keep int

const (
	Nothing   Keep = iota
	Downloads      // what a checksum that is not the copy's own says is right
	All            // what was compiled, too
)

// Kept is what became of a copy.
type Kept struct {
	Files, New int   // in the layer; of them from the copy
	Bytes      int64 // of the layer
}

// Close ends the use of a context's copy when its attempt is over: makes a new layer of what
// may be kept, and removes the rest. No program that may write the copy runs any more.
func (c Caches) Close(ctx context.Context, r Repository, uuid string, keep Keep) (kept Kept, err error) {
	if !isDir(filepath.Join(c.Root, r.name())) {
		return kept, nil
	}
	p, err := c.enter(ctx, r.name())
	if err != nil {
		return kept, err
	}
	defer p.leave()
	n, mine, err := p.slot(uuid)
	if err != nil || mine.UUID == "" {
		return kept, err
	}
	dir := p.path(ownDir, strconv.Itoa(n))
	if keep != Nothing && mine.Boot == fsx.BootID() && isDir(dir) {
		kept, err = p.promote(ctx, dir, keep, mine.Sums, c.Most)
	}
	if ctx.Err() != nil {
		return kept, ctx.Err() // gc removes it
	}
	return kept, errors.Join(err, p.drop(dir), remove(p.ownerFile(n)))
}

// Has reports whether a context's copy holds a file.
func (c Caches) Has(ctx context.Context, r Repository, uuid string) bool {
	p := place{dir: filepath.Join(c.Root, r.name())}
	n, mine, err := p.slot(uuid)
	if err != nil || mine.UUID == "" {
		return false
	}
	root, err := os.OpenRoot(p.path(ownDir, strconv.Itoa(n)))
	if err != nil {
		return false
	}
	defer root.Close()
	found := errors.New("there is one")
	return errors.Is(walk{root: root, visit: func(file) error { return found }}.list(ctx, "."), found)
}

// Trim is for a context that waits: a copy over the bound does not stay on the disk meanwhile.
func (c Caches) Trim(ctx context.Context, r Repository, uuid string) error {
	if !isDir(filepath.Join(c.Root, r.name())) {
		return nil
	}
	p, err := c.enter(ctx, r.name())
	if err != nil {
		return err
	}
	defer p.leave()
	n, mine, err := p.slot(uuid)
	if dir := p.path(ownDir, strconv.Itoa(n)); err == nil && mine.UUID != "" && size(dir) > c.Most {
		return p.drop(dir) // the next Open makes it again
	}
	return err
}

// chosen is a file of the next layer, and whether it comes from the copy.
type chosen struct {
	file
	own   bool
	check check
}

// promote makes the next layer.
func (p *place) promote(ctx context.Context, dir string, keep Keep, sums Sums, most int64) (kept Kept, err error) {
	own, err := os.OpenRoot(dir)
	if err != nil {
		return kept, fmt.Errorf("caches: %w", err)
	}
	defer own.Close()
	layerPath, number, err := p.layer()
	if err != nil {
		return kept, err
	}
	old, err := p.files(ctx, layerPath)
	if err != nil {
		return kept, err
	}
	all, err := choose(ctx, own, old, keep)
	if err != nil {
		return kept, err
	}
	all = bounded(all, most)
	if keep == All {
		sums = nil
	} else if sums == nil {
		sums = Sums{}
	}
	made, err := p.make()
	if err != nil {
		return kept, err
	}
	if kept, err = build(ctx, own, layerPath, made, all, sums); err != nil {
		return Kept{}, errors.Join(err, remove(made))
	}
	if kept.New == 0 && kept.Files == len(old) {
		return kept, remove(made)
	}
	err = syncTree(made)
	if err == nil {
		err = os.Rename(made, p.path(layerPrefix+strconv.Itoa(number+1)))
	}
	if err != nil {
		return Kept{}, errors.Join(fmt.Errorf("caches: %w", err), remove(made))
	}
	return kept, errors.Join(syncDir(p.dir), p.clear())
}

// files are those of a layer, by path.
func (p *place) files(ctx context.Context, layer string) (map[string]file, error) {
	all := make(map[string]file)
	if layer == "" {
		return all, nil
	}
	root, err := os.OpenRoot(layer)
	if err != nil {
		return nil, fmt.Errorf("caches: %w", err)
	}
	defer root.Close()
	return all, walk{root: root, visit: func(f file) error { all[f.path] = f; return nil }}.list(ctx, ".")
}

// choose lists what the next layer may hold. Downloads are added to those of the old
// layer, which were checked; of the rest the copy has the newer state as a whole, if it counts.
func choose(ctx context.Context, own *os.Root, old map[string]file, keep Keep) (all []chosen, err error) {
	for _, k := range kinds {
		for _, part := range k.parts {
			below := path.Join(k.name, part.path) + "/"
			union := part.check != nil || keep != All
			for name, f := range old {
				if union && strings.HasPrefix(name, below) {
					all = append(all, chosen{file: f})
				}
			}
			if part.check == nil && keep != All {
				continue
			}
			w := walk{root: own, single: true, visit: func(f file) error {
				before, known := old[f.path]
				first, _, _ := strings.Cut(strings.TrimPrefix(f.path, below), "/")
				if union && known || part.skip != nil && part.skip(first) {
					return nil
				}
				if len(all) >= 2*mostFiles {
					return errTooMany
				}
				if now := time.Now(); f.time.After(now) {
					f.time = now // what is new is removed last
				}
				all = append(all, chosen{f, !known || !f.same(before), part.check})
				return nil
			}}
			if err := w.list(ctx, path.Clean(below)); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// bounded keeps the newest files within the bound, sorted by path.
func bounded(all []chosen, most int64) []chosen {
	slices.SortFunc(all, func(a, b chosen) int {
		if c := b.time.Compare(a.time); c != 0 {
			return c
		}
		return strings.Compare(a.path, b.path)
	})
	left, count := most, 0
	all = slices.DeleteFunc(all, func(f chosen) bool {
		fits := f.weight() <= left && count < mostFiles
		if fits {
			left -= f.weight()
			count++
		}
		return !fits
	})
	slices.SortFunc(all, func(a, b chosen) int { return strings.Compare(a.path, b.path) })
	return all
}

// build makes the tree of a layer: what is in the old one gets a second name, the rest is copied
// and, once nobody else can change it, checked.
func build(ctx context.Context, own *os.Root, layer, made string, all []chosen, sums Sums) (kept Kept, err error) {
	root, err := os.OpenRoot(made)
	if err != nil {
		return kept, fmt.Errorf("caches: %w", err)
	}
	defer root.Close()
	var there []chosen
	for _, f := range all {
		if err = ctx.Err(); err == nil && f.own {
			err = copyFile(own, root, f.file)
		} else if err == nil {
			err = errors.Join(root.MkdirAll(path.Dir(f.path), 0o700), os.Link(filepath.Join(layer, f.path), filepath.Join(made, f.path)))
		}
		switch {
		case err == nil:
			there = append(there, f)
		case !f.own || onlyDisk(err) != nil || ctx.Err() != nil:
			return kept, fmt.Errorf("caches: %w", err)
		default:
			if err := root.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return kept, fmt.Errorf("caches: %w", err) // a part of a file is none
			}
		}
	}
	for _, f := range there {
		if f.own && f.check != nil && !f.check(root, f.path, sums) {
			if err := root.Remove(f.path); err != nil {
				return kept, fmt.Errorf("caches: %w", err)
			}
			continue
		}
		if f.own {
			kept.New++
		}
		kept.Files++
		kept.Bytes += f.size
	}
	return kept, nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("caches: %w", err)
	}
	return errors.Join(d.Sync(), d.Close())
}
