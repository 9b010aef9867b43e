// Package pool держит «рабочих» — 作業員.
package pool

import (
	"context"
	"fmt"

	log "example.org/log"
)

import _ "embed"

const (
	// First comes first.
	First = iota
	Second
)

const limit = 10

var (
	names = map[string]int{
		"один": 1,
		"two":  2,
	}
	count int
)

// Server serves.
type Server struct {
	name string
	// jobs are open.
	jobs chan func() error
}

type (
	// Runner runs.
	Runner interface {
		fmt.Stringer
		Run(ctx context.Context) error
		Stop()
	}
	Alias = int
	Number interface{ ~int | ~float64 }
)

// State is how far it is.
type State int

type handler func(name string) error

// New makes one.
//
//go:noinline
func New(name string) *Server {
	return &Server{name: name}
}

// Start starts.
func (s *Server) Start(ctx context.Context) error {
	run := func() error {
		return nil
	}
	switch {
	case s.name == "":
		return fmt.Errorf("no name")
	default:
		log.Print(s.name)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case s.jobs <- run:
	}
	if err := run(); err != nil {
		return err
	} else {
		count++
	}
	return nil
}

func (List[T]) Len() int { return 0 }

func Map[T, U any](
	list []T,
	change func(T) U,
) []U {
	var out []U
	for _, item := range list {
		out = append(out, change(item))
	}
	return out
}

var onStop = func(s *Server) {
	s.jobs = nil
}

func main() { fmt.Println() }
