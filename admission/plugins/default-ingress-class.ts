/**
 * DefaultIngressClass: sets the default class of ingresses without one, by field or by legacy annotation. Before
 * release 1.25 a second default class makes it refuse; since then the newest counts. (Enabled by default.)
 */
import { ingresses, type Ingress } from '../../schemas/api/networking/ingresses.js'
import { pluginFor, type AdmissionPlugin } from '../../registry/admission.js'
import type { Gates } from '../../schemas/gates.js'
import { defaultClass } from '../default-class.js'

const CLASS = 'orch.io/ingress.class'
const DEFAULT = 'ingressclass.orch.io/is-default-class'

export const defaultIngressClass = (
  { gates }: { readonly gates: Gates }
): AdmissionPlugin => pluginFor<Ingress>(ingresses, {
  name: 'DefaultIngressClass',
  operations: ['CREATE'],
  mutate: async request => {
    const { object, reader } = request
    if (object === undefined || object.spec.ingressClassName !== undefined ||
      object.metadata.annotations?.[CLASS] !== undefined) return
    const classes = await reader.list('networking.orch.io', 'ingressclasses', '')
    const marked = classes.filter(({ metadata }) => metadata.annotations?.[DEFAULT] === 'true')
    const name = defaultClass(request, {
      marked, mayBeSeveral: gates.enabled('IngressGetsNewestClass'),
      problem: `${marked.length} default IngressClasses were found, only 1 allowed`
    })
    if (name !== undefined) object.spec.ingressClassName = name
  }
})
