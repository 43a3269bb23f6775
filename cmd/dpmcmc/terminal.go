package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"

	"golang.org/x/term"

	"github.com/dpmcmc/dpmcmc/internal/plot"
	"github.com/dpmcmc/dpmcmc/internal/typeset"
)

// widthOf is the width of the terminal that w is, or what COLUMNS says; 0 for neither.
func widthOf(w io.Writer) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil {
			return n
		}
	}
	return 0
}

// say prints text for people, as wide as the terminal is.
func say(out io.Writer, text string) error {
	_, err := io.WriteString(out, typeset.Fit(text, widthOf(out)))
	return err
}

// present draws an answer into an SVG file, if one is named, and prints it.
func present(out io.Writer, answer interface {
	Words() string
	Report() any
	Panels() []plot.Panel
}, chart string, asJSON bool) error {
	if chart != "" {
		if err := drawFile(chart, answer.Panels()); err != nil {
			return err
		}
	}
	if asJSON {
		return printJSON(out, answer.Report())
	}
	return say(out, answer.Words())
}

// drawFile draws panels into an SVG file.
func drawFile(path string, panels []plot.Panel) error {
	var b bytes.Buffer
	if err := plot.SVG(&b, panels...); err != nil {
		return fmt.Errorf("--plot: %w", err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("--plot: %w", err)
	}
	return nil
}

// printJSON prints one indented object.
func printJSON(out io.Writer, v any) error {
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
