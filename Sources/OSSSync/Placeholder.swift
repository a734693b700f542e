enum OSSSyncPlaceholder {}
