package data

import (
	"fmt"
	"os"
)

// open opens a CSV file, and says what else is there.
func open(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("data: %w; name a CSV file", err)
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, fmt.Errorf("data: %s is a folder; name a CSV file", path)
	}
	return f, nil
}
