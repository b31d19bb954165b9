package llm

import "context"

// Router asks the provider that a request names. It is a [Checker] if the first
// provider is one.
type Router struct {
	First  Provider            // for requests that name none
	Others map[string]Provider // by name
}

// Complete implements [Provider].
func (r *Router) Complete(ctx context.Context, q Request) (Reply, error) {
	if q.Provider == "" {
		return r.First.Complete(ctx, q)
	}
	p := r.Others[q.Provider]
	if p == nil {
		return Reply{}, &Error{Kind: NotFound, Message: "the configuration no longer has the model server " + q.Provider}
	}
	return p.Complete(ctx, q)
}

// Check implements [Checker] for the first provider.
func (r *Router) Check(ctx context.Context) (Info, error) {
	if c, ok := r.First.(Checker); ok {
		return c.Check(ctx)
	}
	return Info{}, &Error{Kind: Invalid, Message: "this kind of server cannot be asked what it is"}
}
