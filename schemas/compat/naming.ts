/** The public project's names, for clients, and for servers that know no others. */
import { clone } from '../language/values.js'
import type { Plain } from '../language/types.js'
import type { Naming } from '../naming.js'
import { ownClaims, translateClaims } from './claims.js'
import { publicHost, translatePath, translateQuery } from './requests.js'
import { publicReview } from './reviews.js'
import { publicFindings } from './findings.js'
import { COMPONENT_OBJECTS } from './names.js'
import {
  mayHaveNames, ownTypes, publicStatus, publicType, translateDecoded, translateDocument, translateJson, translatePatch
} from './objects.js'
import { publicDefinition, publicPiece, publicSchema } from './openapi.js'
import { publicWords } from './sentences.js'
import { ownUser, translateGroup, translateKey, translateNamespace, translateUser } from './text.js'

export const PUBLIC_NAMES: Naming = {
  renames: true,
  id: ' public',
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
  mediaType: publicType,
  words: publicWords,
  status: publicStatus,
  document: own => translateDocument(own) as object,
  openApi: { path: item => publicPiece(item) as Plain, schema: publicSchema, definition: publicDefinition },
  mayDiffer: mayHaveNames,
  shown: (message, own) => message === undefined ? own : translateJson(message, clone(own)),
  decoded: (message, own) => translateDecoded(message, clone(own)),
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
