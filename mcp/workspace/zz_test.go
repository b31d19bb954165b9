package workspace_test
import ("testing";"time";"fmt";"agent/mcp")
func TestZZ(t *testing.T){
 for range 8 {
  a:=time.Now()
  h := build(t, func(c *mcp.ServerConfig) { c.Sandbox = "required" })
  b:=time.Now(); h.session.List(t.Context()); d:=time.Now(); h.session.Close(); e:=time.Now()
  fmt.Println("build",b.Sub(a),"list",d.Sub(b),"close",e.Sub(d))
 }
}
