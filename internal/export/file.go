package export

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"agent/contexts"
)

// ToFile writes a file that is there whole or not at all. What a damaged context still
// tells is kept.
func ToFile(name string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-") // of mode 0600
	if err != nil {
		return err
	}
	damage := write(f)
	err = f.Close()
	if err == nil && (damage == nil || contexts.ExitCode(damage) == contexts.ExitDamage) {
		err = os.Rename(f.Name(), name)
	}
	if err != nil || damage != nil {
		_ = os.Remove(f.Name()) // gone if it was renamed
	}
	return errors.Join(damage, err)
}
