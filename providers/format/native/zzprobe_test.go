package native_test
import ("testing";"os";"rea/providers/format/native";"fmt";"time")
func TestProbeHead(t *testing.T){
 for _,p:=range []string{"/bin/ls","/usr/lib/x86_64-linux-gnu/libc.so.6","/usr/bin/node","/usr/local/go/bin/go"}{
  d,err:=os.ReadFile(p); if err!=nil{continue}
  for _,n:=range []int{4096,65536,len(d)}{
  s:=time.Now(); im,err:=native.Load(d[:min(n,len(d))],native.Options{}); el:=time.Since(s)
  if err!=nil{fmt.Println(p,n,err,el);continue}
  fmt.Println(p,n,im.Format,im.Arch,im.Kind,im.FileType,el)
 }}
}
