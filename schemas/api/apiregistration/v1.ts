/** The types of apiregistration.orch.io/v1, for those who use them elsewhere. */
export { APIService, APIServiceCondition, APIServiceSpec, APIServiceStatus, ServiceReference } from './apiservices.js'
