@_exported public import OSSTransfer
