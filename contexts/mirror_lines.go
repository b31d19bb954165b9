package contexts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"agent/eventlog"
	"agent/eventlog/event"
	"agent/internal/cluster"
	"agent/projections"
)

// batch is lines of one context that follow each other.
type batch struct {
	uuid  string
	pos   uint64 // of the first
	last  uint64 // position of the last
	lines [][]byte
}

// batches puts the lines of each context together. The end of one stands alone.
func batches(lines []cluster.Line) (all []*batch) {
	open := map[string]*batch{}
	for _, line := range lines {
		b := open[line.UUID]
		if b == nil || string(line.Data) == void || string(b.lines[0]) == void {
			b = &batch{uuid: line.UUID, pos: line.Pos}
			open[line.UUID] = b
			all = append(all, b)
		}
		b.lines, b.last = append(b.lines, line.Data), line.Pos
	}
	return all
}

// takeAll takes over lines. After an error they are asked for again: to take a line twice
// changes nothing.
func (m *mirror) takeAll(ctx context.Context, lines *[]cluster.Line) error {
	if len(*lines) == 0 {
		return nil
	}
	for _, b := range batches(*lines) {
		if err := m.take(ctx, b); err != nil {
			return err
		}
	}
	m.at.Pos = (*lines)[len(*lines)-1].Pos
	m.s.followed.Store(m.at.Pos)
	*lines = (*lines)[:0]
	return nil
}

// take takes over a batch. One context that is broken does not hold up the others.
func (m *mirror) take(ctx context.Context, b *batch) error {
	err := m.apply(ctx, b)
	switch {
	case errors.Is(err, ErrBusy):
		m.behind[b.uuid] = missed{m.behind[b.uuid].first, b.last}
	case ExitCode(err) == ExitIO, ExitCode(err) == ExitTemporary && !errors.Is(err, cluster.ErrUnreachable):
		m.behind[b.uuid] = missed{cmp.Or(m.behind[b.uuid].first, b.pos), b.last}
	case err != nil && (ctx.Err() != nil || errors.Is(err, cluster.ErrUnreachable)):
		return err
	case err != nil:
		m.s.o.Warn(fmt.Errorf("%s: %w", b.uuid, err))
	}
	return nil
}

func (m *mirror) apply(ctx context.Context, b *batch) error {
	if !canonical(b.uuid) {
		return nil
	}
	ends := string(b.lines[0]) == void
	if !ends {
		m.spend(b)
	}
	lock, err := m.s.lock(b.uuid + ".lock")
	if err != nil {
		return err
	}
	defer lock.Close()
	found, err := m.s.dirsWith(b.uuid)
	if err != nil {
		return err
	}
	if len(found) > 0 && !ends {
		follows, err := eventlog.Extend(m.s.fs, pathOf(found[0], b.uuid), b.lines)
		if err == nil && follows {
			return m.s.extended(b, found[0])
		}
		if err != nil && !isMissing(err) {
			return err
		}
	}
	return m.s.refresh(ctx, b.uuid, b.last)
}

// extended follows lines that were added to a log.
func (s *Store) extended(b *batch, at Dir) error {
	c := s.context(b.uuid, at)
	if err := c.RemoveFile(projections.MetadataFile); err != nil {
		return err // the others are another log's now
	}
	for _, line := range b.lines {
		rec, err := eventlog.Parse(line)
		if err != nil {
			return err
		}
		if strings.HasPrefix(string(rec.Type), "context.") {
			return s.relocate(b.uuid)
		}
	}
	return nil
}

// spend counts what calls of another worker have cost. What was counted is not counted again.
func (m *mirror) spend(b *batch) {
	for _, line := range b.lines {
		rec, err := eventlog.Parse(line)
		if err != nil || !strings.HasPrefix(string(rec.Type), "llm.") {
			continue
		}
		if e, err := event.Decode(rec); err == nil {
			m.spendOn(b.uuid, e)
		}
	}
}

func (m *mirror) spendOn(uuid string, e event.Event) {
	of := m.spending[uuid]
	if of == nil {
		of = &Spending{}
	}
	tokens, usd, ok := of.Of(e)
	if !ok { // the call is open
		m.spending[uuid] = of
		return
	}
	delete(m.spending, uuid)
	if err := m.s.Spend(uuid, Call{Seq: e.Seq, Day: Day(e.Time), Tokens: tokens, USD: usd}); err != nil {
		m.s.o.Warn(err)
	}
}
