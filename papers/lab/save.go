package lab

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
)

// File returns the path of the file that keeps the result of a plan's run: NAME-DIGEST.json in
// dir below Env.Dir. File returns "" if Env.Dir is empty. The digest covers the plan, and
// everything else on which the run depends.
func (e *Env) File(dir, name string, p *plan.Plan, more string) (string, error) {
	if e.Dir == "" {
		return "", nil
	}
	plan, err := json.Marshal((*planfile.Plan)(p))
	sum := sha256.Sum256(append(plan, more...))
	return filepath.Join(e.Dir, dir, fmt.Sprintf("%s-%x.json", name, sum[:6])), err
}

// Kept returns the result that an earlier run saved in file. If there is none, it calls run and
// saves the result. If file is "", Kept calls run and saves nothing.
func Kept[T any](file string, run func() (*T, error)) (*T, error) {
	if s, err := Saved[T](file); s != nil || err != nil {
		return s, err
	}
	s, err := run()
	if err != nil || file == "" {
		return s, err
	}
	return s, Save(file, s)
}

// Saved reads the saved result of a run, as JSON. Saved returns nil if there is no saved result,
// or if file is "".
func Saved[T any](file string) (*T, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	s := new(T)
	if err == nil {
		err = json.Unmarshal(text, s)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: remove it", file, err)
	}
	return s, nil
}

// Save writes the result of a run as JSON, and creates the directory of the file. If Save fails,
// the file is unchanged.
func Save[T any](file string, s *T) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	part := file + ".part"
	if err := os.WriteFile(part, text, 0o644); err != nil {
		return err
	}
	return os.Rename(part, file)
}
