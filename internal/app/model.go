package app

import (
	"agent/internal/config"
	"agent/llm"
)

// newModel makes the providers that the configuration names, behind one.
func newModel(c *config.Config) (llm.Provider, error) {
	active := c.LLM.Active()
	first, err := active.Driver.New(c.Options(active))
	if err != nil {
		return nil, err
	}
	router := &llm.Router{First: first, Others: map[string]llm.Provider{active.Name: first}}
	for _, p := range c.LLM.Others() {
		if router.Others[p.Name], err = p.Driver.New(c.Options(p)); err != nil {
			return nil, err
		}
	}
	return router, nil
}
