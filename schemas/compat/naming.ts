/** The public project's names, for clients, and for servers that know no others. */
import type { Naming } from '../naming.js'
import { ownClaims, translateClaims } from './claims.js'
import { publicHost, translatePath, translateQuery } from './requests.js'
import { publicReview } from './reviews.js'
import { publicFindings } from './findings.js'
import { COMPONENT_OBJECTS } from './names.js'
import { ownTypes, translateDecoded, translateJson, translatePatch } from './objects.js'
import { ownUser, translateGroup, translateKey, translateNamespace, translateUser } from './text.js'

export const PUBLIC_NAMES: Naming = {
  group: translateGroup,
  user: translateUser,
  key: translateKey,
  namespace: translateNamespace,
  path: translatePath,
  query: translateQuery,
  component: name => COMPONENT_OBJECTS.get(name) ?? name,
  labelDomains: {
    system: ['kubernetes.io', 'k8s.io'], nodes: ['kubelet.kubernetes.io', 'node.kubernetes.io']
  },
  hostOf: publicHost,
  ownUser,
  claims: translateClaims,
  ownClaims,
  review: publicReview,
  title: 'Kubernetes',
  headerPrefix: 'x-kubernetes',
  accepted: ownTypes,
  value: translateJson,
  protobuf: message => ({
    apiVersion: translateGroup,
    json: value => translateJson(message, value),
    object: object => translateDecoded(message, object, false)
  }),
  patch: translatePatch,
  patchesShown: true,
  findings: publicFindings
}
