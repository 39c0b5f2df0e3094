import time, sys
import sympy as sp
from sympy.physics import mechanics as me
def chain(n, axes, method):
    t0=time.perf_counter()
    q=me.dynamicsymbols(f'q1:{n+1}'); u=me.dynamicsymbols(f'u1:{n+1}') if method=='kane' else [x.diff() for x in q]
    m=sp.symbols(f'm1:{n+1}'); l=sp.symbols(f'l1:{n+1}'); g=sp.Symbol('g'); I=sp.symbols(f'I1:{n+1}')
    N=me.ReferenceFrame('N'); O=me.Point('O'); O.set_vel(N,0)
    F,P=N,O; bodies=[];loads=[]
    for k in range(n):
        A=F.orientnew(f'A{k}','Axis',[q[k],getattr(F,axes[k])])
        A.set_ang_vel(F,u[k]*getattr(F,axes[k]))
        C=P.locatenew(f'C{k}',-l[k]/2*A.z); C.v2pt_theory(P,N,A)
        Q=P.locatenew(f'P{k}',-l[k]*A.z); Q.v2pt_theory(P,N,A)
        bodies.append(me.RigidBody(f'B{k}',C,A,m[k],(me.inertia(A,I[k],I[k],0 if 1 else 0),C)))
        loads.append((C,-m[k]*g*N.z)); F,P=A,Q
    if method=='kane':
        km=me.KanesMethod(N,q,u,[a.diff()-b for a,b in zip(q,u)])
        km.kanes_equations(bodies,loads); M,f=km.mass_matrix,km.forcing
    else:
        L=me.Lagrangian(N,*bodies)
        lm=me.LagrangesMethod(L,q,forcelist=loads,frame=N); lm.form_lagranges_equations(); M,f=lm.mass_matrix,lm.forcing
    t=time.perf_counter()-t0
    return t,len(str(M)),len(str(f))
for n,axes in ((2,'yy'),(4,'yyyy'),(6,'y'*6),(4,'zyxz'),(6,'zyyzyz')):
    for meth in ('kane','lagrange'):
        print(n,axes,meth,chain(n,axes,meth),flush=True)
