// Package a does.
package a

import (
	"fmt"
	"os"
)

const (
	A = iota
	B
)

// Server serves.
type Server struct {
	name string
}

type (
	X interface{ Foo() }
	Y = int
)

// Start starts.
func (s *Server) Start(ctx context.Context) error {
	f := func() {}
	return nil
}

func (l List[T]) Len() int { return 0 }

func main() { fmt.Println() }
