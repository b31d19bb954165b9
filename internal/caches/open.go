package caches

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"agent/internal/fsx"
)

// owner is the file beside a copy: the programs that write the copy cannot reach it.
type owner struct {
	UUID string `json:"uuid"`
	Boot string `json:"boot,omitempty"` // of the machine: a copy is not synced to the disk
	Sums Sums   `json:"sums,omitempty"` // of the repository, before anybody could change them
}

// Open is the directory in which a context's tools have their caches. The first time it is a copy
// of the repository's layer; later it is what the context left there. sums are those of the
// repository as the forge has it, nil if the working copy holds somebody's work already.
func (c Caches) Open(ctx context.Context, r Repository, uuid string, sums Sums) (dir string, err error) {
	if err := os.MkdirAll(filepath.Join(c.Root, r.name()), 0o700); err != nil {
		return "", fmt.Errorf("caches: %w", err)
	}
	p, err := c.enter(ctx, r.name())
	if err != nil {
		return "", err
	}
	defer p.leave()
	if err := p.note(r); err != nil {
		return "", err
	}
	n, mine, err := p.slot(uuid)
	if err != nil {
		return "", err
	}
	dir = p.path(ownDir, strconv.Itoa(n))
	boot := fsx.BootID()
	if mine.UUID == uuid && mine.Boot == boot && isDir(dir) {
		return dir, p.noteSums(n, mine, sums)
	}
	if mine.UUID != "" {
		sums = mine.Sums // the working copy is not new any more
	}
	if err := p.drop(dir); err != nil {
		return "", err
	}
	if err := p.setOwner(n, owner{uuid, boot, sums}); err != nil {
		return "", err
	}
	return dir, p.copyLayer(ctx, dir)
}

// NoteSums notes the sums of a repository whose caches were opened before its working copy was there.
func (c Caches) NoteSums(ctx context.Context, r Repository, uuid string, sums Sums) error {
	p, err := c.enter(ctx, r.name())
	if err != nil {
		return err
	}
	defer p.leave()
	n, mine, err := p.slot(uuid)
	if err != nil || mine.UUID != uuid {
		return err
	}
	return p.noteSums(n, mine, sums)
}

// noteSums notes sums, if there are some and none were noted.
func (p *place) noteSums(n int, mine owner, sums Sums) error {
	if len(mine.Sums) > 0 || len(sums) == 0 {
		return nil
	}
	mine.Sums = sums
	return p.setOwner(n, mine)
}

// note says whose the directory is, and that it was used.
func (p *place) note(r Repository) error {
	if err := os.WriteFile(p.path(nameFile), []byte(r.Host+"/"+r.Project+"\n"), 0o600); err != nil {
		return fmt.Errorf("caches: %w", err)
	}
	now := time.Now()
	return os.Chtimes(p.path(nameFile), now, now)
}

// slot is the number of a context's copy, or the first free one.
func (p *place) slot(uuid string) (n int, mine owner, err error) {
	all, err := p.owners()
	if err != nil {
		return 0, mine, err
	}
	for n, o := range all {
		if o.UUID == uuid {
			return n, o, nil
		}
	}
	for n = 0; all[n].UUID != ""; n++ {
	}
	return n, mine, nil
}

// owners are those of all copies.
func (p *place) owners() (map[int]owner, error) {
	names, err := readNames(p.path(ownDir))
	if err != nil {
		return nil, err
	}
	all := make(map[int]owner)
	for _, name := range names {
		n, err := strconv.Atoi(strings.TrimSuffix(name, ownerSuffix))
		if err != nil || !strings.HasSuffix(name, ownerSuffix) {
			continue
		}
		var o owner
		if text, err := os.ReadFile(p.path(ownDir, name)); err == nil && json.Unmarshal(text, &o) == nil && o.UUID != "" {
			all[n] = o
		}
	}
	return all, nil
}

func (p *place) ownerFile(n int) string { return p.path(ownDir, strconv.Itoa(n)+ownerSuffix) }

func (p *place) setOwner(n int, o owner) error {
	text, _ := json.Marshal(o) // strings
	err := os.MkdirAll(p.path(ownDir), 0o700)
	if err == nil {
		err = os.WriteFile(p.path("new-owner"), text, 0o600)
	}
	if err == nil {
		err = os.Rename(p.path("new-owner"), p.ownerFile(n))
	}
	if err != nil {
		return fmt.Errorf("caches: %w", err)
	}
	return nil
}

// copyLayer makes a copy of the layer. Without room for it the copy is empty.
func (p *place) copyLayer(ctx context.Context, dir string) error {
	made, err := p.make()
	if err != nil {
		return err
	}
	if layer, _, err := p.layer(); err == nil && layer != "" {
		if err := copyTree(ctx, layer, made); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			_ = remove(made) // what is left the next one clears
			if made, err = p.make(); err != nil {
				return err
			}
		}
	}
	for _, k := range kinds {
		if err := os.MkdirAll(filepath.Join(made, k.name), 0o700); err != nil {
			return fmt.Errorf("caches: %w", err)
		}
	}
	if err := os.Rename(made, dir); err != nil {
		return fmt.Errorf("caches: %w", err)
	}
	return nil
}

func copyTree(ctx context.Context, from, to string) error {
	source, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer target.Close()
	return walk{root: source, visit: func(f file) error { return copyFile(source, target, f) }}.list(ctx, ".")
}

func isDir(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}
