/** The public project's names, for clients, and for servers that know no others. */
import type { Plain } from '../language/types.js'
import type { Naming } from '../naming.js'
import { publicEvent } from './audit-events.js'
import { ownClaims, translateClaims } from './claims.js'
import { publicMessage } from './definitions.js'
import { publicHost, translatePath, translateQuery } from './requests.js'
import { publicReview } from './reviews.js'
import { publicFindings } from './findings.js'
import { COMPONENT_OBJECTS } from './names.js'
import {
  mayHaveNames, ownTypes, publicObject, publicStatus, publicType, translateDocument, translateValues
} from './objects.js'
import { publicDefinition, publicPiece, publicSchema } from './openapi.js'
import { publicRenaming } from './renaming.js'
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
  event: publicEvent,
  headerPrefix: 'x-kubernetes',
  accepted: ownTypes,
  mediaType: publicType,
  words: publicWords,
  status: publicStatus,
  document: own => translateDocument(own) as object,
  openApi: {
    title: 'Kubernetes', path: translatePath, pathItem: item => publicPiece(item) as Plain, schema: publicSchema,
    definition: publicDefinition
  },
  mayDiffer: mayHaveNames,
  renaming: publicRenaming,
  message: publicMessage,
  value: translateValues,
  shown: publicObject,
  findings: publicFindings
}
