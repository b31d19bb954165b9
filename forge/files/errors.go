package files

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"agent/forge"
)

// failed gives an error its class. absent is that of a directory which is not there.
func (c *Client) failed(ctx context.Context, op string, err error, absent forge.ErrorKind) error {
	var known *forge.Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &known):
		named := *known
		named.Op, named.Local = op, true
		return &named
	}
	e := &forge.Error{Kind: forge.Transient, Op: op, Message: oneLine(err.Error()), Err: err, Local: true}
	var path *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist) && errors.As(err, &path) && path.Path == c.cfg.Directory, errors.Is(err, syscall.ENOTDIR):
		e.Kind, e.Message = absent, "the directory "+c.cfg.Directory+" is not there"
	case errors.Is(err, fs.ErrNotExist):
		e.Kind, e.Message = forge.NotFound, "no file of the directory has this number"
	case errors.Is(err, errUnsure):
		e.Kind = forge.Hidden
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		e.Kind = forge.Forbidden
	}
	return e
}

func invalid(op, message string) error {
	return &forge.Error{Kind: forge.Invalid, Op: op, Message: message, Local: true}
}
